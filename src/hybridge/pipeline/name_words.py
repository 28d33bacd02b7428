"""Capitalised words that are nobody's name, and names that Faker's locales do not write in Latin."""

from __future__ import annotations

PRODUCTS = tuple(
    (
        "Python JavaScript TypeScript Java Kotlin Swift Rust Go Ruby Scala Perl Haskell Erlang Julia Fortran "
        "Docker Kubernetes Linux Ubuntu Debian Fedora Windows Android macOS Chrome Firefox Safari Excel Word "
        "Outlook PowerPoint Teams Slack Zoom Notion Jira Confluence GitHub GitLab Bitbucket Jenkins Terraform "
        "Ansible Grafana Prometheus Kafka Redis Postgres PostgreSQL MySQL MongoDB Cassandra Elasticsearch Spark "
        "Hadoop Airflow Flask Django Rails Laravel Spring React Angular Svelte Vue Node Next Express Pandas NumPy "
        "TensorFlow PyTorch Keras Jupyter Matplotlib Selenium Playwright Pytest Maven Gradle Photoshop Illustrator "
        "Figma Blender Unity Unreal Minecraft Fortnite Spotify Netflix YouTube Twitter Facebook Instagram TikTok "
        "LinkedIn Reddit Telegram WhatsApp Signal Gmail Dropbox Salesforce Shopify Stripe PayPal Visa Mastercard "
        "Tesla Toyota Honda Ford Chevrolet Volkswagen Mercedes Audi Porsche Ferrari Boeing Airbus Nike Adidas Puma "
        "Lego Barbie Coca-Cola Pepsi Starbucks Nestle Heinz Kellogg Walmart Costco Target Amazon Google Microsoft "
        "Apple Samsung Sony Nokia Intel Nvidia Oracle Siemens Bosch Philips Pfizer Bayer Roche Novartis Disney "
        "Pixar Nintendo PlayStation Xbox Alexa Siri Cortana Bard Claude Gemini Llama Mistral Copilot Bluetooth "
        "Ethernet Wi-Fi Internet Bitcoin Ethereum Medicare Medicaid Uber Lyft Airbnb Wikipedia Stanford Harvard "
        "Oxford Cambridge Yale Princeton Cornell Berkeley NASA UNESCO FIFA Olympics Congress Parliament Senate "
        "Pentagon Kremlin Interpol Nasdaq Excalibur Everest Amazon Nile Danube Rhine Thames Mississippi Sahara "
        "Alps Andes Himalayas Pacific Atlantic Arctic Mars Venus Jupiter Saturn Neptune Mercury Pluto Earth Sun "
        "Moon Bible Quran Torah Christmas Easter Ramadan Diwali Hanukkah Thanksgiving Halloween Renaissance "
        "Baroque Enlightenment Victorian Buddhism Islam Christianity Hinduism Judaism Catholic Protestant "
        "Republican Democrat Communist Socialist Marxist Keynesian Darwinian Newtonian Euclidean Gaussian Bayesian "
        "Boolean Cartesian Fibonacci Monopoly Scrabble Sudoku Godzilla Titanic Camelot Atlantis"
    ).split()
)
PEOPLES = tuple(
    (
        "American British English French German Spanish Italian Portuguese Dutch Swedish Danish Norwegian Finnish "
        "Polish Czech Slovak Hungarian Romanian Bulgarian Greek Turkish Russian Ukrainian Chinese Japanese Korean "
        "Vietnamese Thai Indonesian Malay Filipino Indian Pakistani Bengali Persian Arabic Hebrew Egyptian Moroccan "
        "Nigerian Kenyan Ethiopian Australian Canadian Mexican Brazilian Argentine Chilean Colombian Peruvian Cuban "
        "Irish Scottish Welsh Swiss Austrian Belgian Icelandic Latin Roman European Asian African Mandarin Hindi "
        "Cantonese Swahili Urdu Tamil Soviet Ottoman Byzantine"
    ).split()
)
PLACES = tuple(
    (
        "London,Paris,Berlin,Madrid,Rome,Vienna,Zurich,Geneva,Amsterdam,Brussels,Copenhagen,Stockholm,Oslo,Helsinki,"
        "Warsaw,Prague,Budapest,Athens,Istanbul,Moscow,Kyiv,Cairo,Lagos,Nairobi,Cape Town,Johannesburg,Dubai,Tehran,"
        "Baghdad,Jerusalem,Mumbai,New Delhi,Bangalore,Kolkata,Dhaka,Karachi,Bangkok,Hanoi,Singapore,Jakarta,Manila,"
        "Beijing,Shanghai,Shenzhen,Guangzhou,Hangzhou,Hong Kong,Taipei,Tokyo,Osaka,Kyoto,Seoul,Sydney,Melbourne,"
        "Auckland,New York,Los Angeles,San Francisco,Chicago,Boston,Seattle,Houston,Dallas,Austin,Denver,Phoenix,"
        "Miami,Atlanta,Philadelphia,Washington,Detroit,Toronto,Vancouver,Montreal,Mexico City,Bogota,Lima,Santiago,"
        "Buenos Aires,Rio de Janeiro,Sao Paulo,Havana,California,Texas,Florida,Ohio,Nevada,Virginia,Georgia,Alaska,"
        "Hawaii,Europe,Asia,Africa,America,Central Park,Wall Street,Silicon Valley,Main Street,Fifth Avenue,"
        "Lake Michigan,Mount Everest,Times Square,Oxford Street,Golden Gate Bridge,Eiffel Tower,Great Wall,"
        "United States,United Kingdom,South Africa,New Zealand,South Korea,Saudi Arabia,Costa Rica,Sri Lanka"
    ).split(",")
)
THINGS = tuple(
    (
        "Privacy Policy,Terms of Service,Annual Report,Project Plan,Machine Learning,Data Science,User Guide,"
        "Getting Started,Table of Contents,Human Resources,Customer Support,Product Manager,Software Engineer,"
        "Chief Executive Officer,Supreme Court,World War II,Cold War,Industrial Revolution,French Revolution,"
        "Nobel Prize,World Cup,Super Bowl,Champions League,Game of Thrones,Star Wars,Lord of the Rings,Great Gatsby,"
        "Pride and Prejudice,Moby Dick,War and Peace,New Testament,First Amendment,Civil War,Black Friday,"
        "New Year,Independence Day,United Nations,European Union,World Bank,Federal Reserve,Stock Exchange,"
        "Quarterly Financial Report,Bachelor of Science,Master of Arts,Computer Science,High School,State University,"
        "General Hospital,National Park,Art Museum,City Council,Board of Directors,Marketing Department,"
        "Visual Studio Code,Google Maps,Microsoft Office,Amazon Web Services,Red Hat,Apple Music,Deep Learning,"
        "Artificial Intelligence,Quality Assurance,Business Plan,Meeting Notes,Action Items,Next Steps,Best Regards,"
        "Kind Regards,Yours Sincerely,Good Morning,Good Luck,Happy Birthday,Merry Christmas,Dear Sir,Dear Madam,"
        "Dear Team,Dear Customer,Hello World,Hello Kitty,Big Data,Open Source,Pull Request,Unit Test,Error Message,"
        "Access Denied,Not Found,Bad Request,Null Pointer,Stack Overflow,Hash Map,Binary Tree,Bubble Sort,Quick Sort,"
        "Roman Empire,Middle Ages,Bronze Age,Ice Age,Solar System,Milky Way,Black Hole,Big Bang,North Pole,Red Sea,"
        "Great Depression,Wall Street Journal,New York Times,Washington Post,Harvard University,Oxford University"
    ).split(",")
)
TITLES = tuple("Mr. Mrs. Ms. Dr. Prof. Miss Mr Mrs Ms Dr Professor Sir Lady Captain Coach Aunt Uncle".split())

CHINESE_LAST = tuple(
    (
        "Wang Li Zhang Liu Chen Yang Huang Zhao Wu Zhou Xu Sun Ma Zhu Hu Guo He Lin Gao Luo Zheng Liang Xie Song "
        "Tang Deng Feng Han Cao Peng Zeng Xiao Tian Dong Pan Yuan Cai Jiang Yu Du Ye Cheng Wei Su Lu Ding Ren Shen "
        "Yao Zhong Cui Tan Fan Liao Shi Jin Jia Xia Fu Fang Zou Xiong Bai Meng Qin Qiu Hou Xue Yan Lei Long Tao "
        "Chan Wong Lau Leung Cheung Lam Ng Ho Kwok Tsai Hsu"
    ).split()
)
CHINESE_FIRST = tuple(
    (
        "Wei Fang Na Min Jing Li Qiang Lei Jun Yang Yong Yan Jie Juan Tao Ming Chao Xia Ping Gang Xiuying Guiying "
        "Xiaoming Xiaohong Yuting Zihan Haoran Yichen Jiahao Zixuan Mengyao Siyu Xinyi Zhihao Junjie Tianyu Ruoxi "
        "Jianguo Guoqiang Lihua Meiling Xuemei Zhiwei Weimin Dawei Hongmei Yifan Haoyu Ziyang Kexin Jiayi Xiaofeng"
    ).split()
)
ARABIC_FIRST = tuple(
    (
        "Mohammed Muhammad Ahmed Ali Hassan Hussein Omar Khalid Abdullah Ibrahim Yusuf Youssef Mustafa Tariq Bilal "
        "Hamza Karim Samir Nabil Faisal Salman Rashid Zaid Amina Fatima Aisha Khadija Maryam Layla Noor Zainab Huda "
        "Salma Rania Yasmin Nadia Samira Leila Dalia Hala Farah Lina"
    ).split()
)
ARABIC_LAST = tuple(
    (
        "Al-Sayed Al-Masri Hassan Khan Haddad Khoury Nasser Aziz Mansour Saleh Farouk Rahman Abbas Malik Qureshi "
        "Siddiqui El-Amin Bakr Al-Rashid Hamdan Darwish Shaheen Najjar Sabbagh Ben-Ali Osman Jaber Suleiman"
    ).split()
)
