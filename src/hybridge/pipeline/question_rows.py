"""The rows that the questions of `pipeline.questions` are made of."""

from __future__ import annotations

CAPITALS = """
France Paris 法国 巴黎|Japan Tokyo 日本 东京|Italy Rome 意大利 罗马|Canada Ottawa 加拿大 渥太华
Egypt Cairo 埃及 开罗|Peru Lima 秘鲁 利马|Kenya Nairobi 肯尼亚 内罗毕|Norway Oslo 挪威 奥斯陆
Australia Canberra 澳大利亚 堪培拉|Poland Warsaw 波兰 华沙|Cuba Havana 古巴 哈瓦那
Thailand Bangkok 泰国 曼谷|Spain Madrid 西班牙 马德里|Chile Santiago 智利 圣地亚哥
Finland Helsinki 芬兰 赫尔辛基|Mongolia Ulaanbaatar 蒙古 乌兰巴托|Greece Athens 希腊 雅典
Turkey Ankara 土耳其 安卡拉|Brazil Brasilia 巴西 巴西利亚|Hungary Budapest 匈牙利 布达佩斯
"""
"""Country and capital, in English and in Chinese."""

OPINIONS_EN = {
    "positive": (
        "I love this phone, it is wonderful.",
        "Best meal I have had in years.",
        "The staff were kind and quick.",
        "Great value, works perfectly.",
        "A joy to use every day.",
        "Not bad at all, I would buy it again.",
        "The battery lasts two full days, impressive.",
        "Beautiful room with a lovely view.",
    ),
    "negative": (
        "The food was cold and awful.",
        "It broke after two days.",
        "Terrible service, never again.",
        "Waste of money.",
        "The room was dirty and loud.",
        "I expected much more for this price.",
        "The delivery took six weeks and half was missing.",
        "Hardly a pleasant evening.",
    ),
}
OPINIONS_ZH = {
    "正面": (
        "这部手机太好用了，我很喜欢。",
        "服务热情，上菜很快。",
        "质量很好，物超所值。",
        "电影非常感人，强烈推荐。",
        "酒店干净又安静。",
        "没想到这么便宜还这么耐用。",
        "老师讲得清楚，孩子很爱听。",
        "一点也不失望，还会再来。",
    ),
    "负面": (
        "菜又冷又难吃。",
        "用了两天就坏了。",
        "客服态度很差，再也不买了。",
        "浪费钱。",
        "房间又脏又吵。",
        "等了一个小时还没上菜。",
        "包装破了，东西也少了一件。",
        "说好的功能一个都没有。",
    ),
}

INTENTS_EN = (
    ("Where is my parcel? I ordered it last Monday.", "order_status"),
    ("I want my money back for the broken lamp.", "refund"),
    ("Hello there, good afternoon!", "greeting"),
    ("Your driver shouted at me, this is unacceptable.", "complaint"),
    ("Has my order been shipped yet?", "order_status"),
    ("Please return the 40 dollars to my card.", "refund"),
)
INTENTS_ZH = (
    ("明天早上七点叫我起床", "闹钟"),
    ("帮我买一张后天去成都的机票", "订机票"),
    ("今天下午会下雨吗", "查天气"),
    ("来一首周杰伦的歌", "播放音乐"),
    ("周五从上海飞广州还有票吗", "订机票"),
    ("外面冷不冷，要带外套吗", "查天气"),
)

SPELLING_EN = (
    ("I recieved teh pakage yesterdy.", "received the package yesterday"),
    ("Pleese sned me the adress.", "please send me the address"),
    ("She definately beleives you.", "definitely believes you"),
    ("We will meat tommorow at nine.", "we will meet tomorrow at nine"),
    ("He dont like apples.", "doesn't like apples|does not like apples"),
    ("They was late agian.", "they were late again"),
    ("It is neccessary to seperate them.", "necessary to separate them"),
    ("My freind works for the goverment.", "my friend works for the government"),
    ("The wether is beatiful today.", "the weather is beautiful today"),
    ("I have recieve you're letter.", "i have received your letter|i received your letter"),
    ("Wich one is beter?", "which one is better"),
    ("The childs plays in the gardin.", "children play in the garden"),
)
SPELLING_ZH = (
    ("他己经到了机厂。", "他已经到了机场"),
    ("老师夸讲了我。", "老师夸奖了我"),
    ("我门今天去公圆。", "我们今天去公园"),
    ("请你在说一遍。", "请你再说一遍"),
    ("这个办法很有郊。", "这个办法很有效"),
    ("他的成级很好。", "他的成绩很好"),
    ("天汽预报说有雨。", "天气预报说有雨"),
    ("我非长高兴。", "我非常高兴"),
)

WORDS = (
    ("good morning", "早上好|早安"),
    ("thank you", "谢谢"),
    ("water", "水"),
    ("I love you", "我爱你"),
    ("library", "图书馆"),
    ("tomorrow", "明天"),
    ("apple", "苹果"),
    ("teacher", "老师|教师"),
    ("train station", "火车站"),
    ("doctor", "医生|大夫"),
    ("umbrella", "雨伞|伞"),
    ("kitchen", "厨房"),
    ("keyboard", "键盘"),
    ("bridge", "桥"),
)

YES_NO_EN = (
    ("Is the sun a star?", "yes"),
    ("Is a whale a fish?", "no"),
    ("Is Paris in Germany?", "no"),
    ("Is 7 a prime number?", "yes"),
    ("Do spiders have eight legs?", "yes"),
    ("Is water made of hydrogen and oxygen?", "yes"),
    ("Is the moon bigger than the earth?", "no"),
    ("Can penguins fly?", "no"),
    ("Is 9 a prime number?", "no"),
    ("Is iron a metal?", "yes"),
    ("Is ice lighter than water?", "yes"),
    ("Did Shakespeare write Hamlet?", "yes"),
    ("Is 17 an even number?", "no"),
    ("Does the sun rise in the west?", "no"),
)
YES_NO_ZH = (
    ("太阳是恒星吗？", "是"),
    ("鲸鱼是鱼吗？", "不是"),
    ("巴黎在德国吗？", "不是"),
    ("7是质数吗？", "是"),
    ("蜘蛛有八条腿吗？", "是"),
    ("月亮比地球大吗？", "不是"),
    ("企鹅会飞吗？", "不是"),
    ("铁是金属吗？", "是"),
    ("太阳从西边升起吗？", "不是"),
    ("《西游记》是小说吗？", "是"),
    ("17是偶数吗？", "不是"),
    ("上海是中国的城市吗？", "是"),
)

FACTS_EN = (
    ("Which planet is closest to the sun?", "Mercury"),
    ("Who wrote Hamlet?", "Shakespeare"),
    ("What gas do plants absorb?", "carbon dioxide|CO2"),
    ("How many days are in a leap year?", "366"),
    ("What is the largest ocean?", "Pacific"),
    ("What is the chemical symbol of gold?", "Au"),
    ("Who painted the Mona Lisa?", "Vinci"),
    ("What is the boiling point of water in Celsius?", "100"),
    ("In which year did World War II end?", "1945"),
    ("What language is spoken in Brazil?", "Portuguese"),
    ("What is the tallest mountain?", "Everest"),
    ("How many continents are there?", "7|seven"),
    ("What day comes after Tuesday?", "Wednesday"),
    ("How many days are in November?", "30"),
    ("Which month comes before April?", "March"),
    ("How many minutes are in three hours?", "180"),
    ("Who discovered penicillin?", "Fleming"),
    ("What is the square root of 144?", "12"),
)
FACTS_ZH = (
    ("《红楼梦》的作者是谁？", "曹雪芹"),
    ("中国最长的河流是什么？", "长江"),
    ("一年有多少个月？", "12|十二"),
    ("水的化学式是什么？", "H2O|H₂O"),
    ("中国的首都是哪里？", "北京"),
    ("世界最高峰是什么？", "珠穆朗玛"),
    ("闰年有多少天？", "366"),
    ("李白是哪个朝代的诗人？", "唐"),
    ("星期二的后一天是星期几？", "星期三|周三"),
    ("十一月有多少天？", "30|三十"),
    ("两个小时有多少分钟？", "120"),
    ("中秋节吃什么传统食品？", "月饼"),
    ("144的平方根是多少？", "12"),
    ("《狂人日记》的作者是谁？", "鲁迅"),
)
