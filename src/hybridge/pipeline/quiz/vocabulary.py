"""Names, words and things that made-up questions are about."""

from __future__ import annotations

NAMES = (
    *(("Tom", "小明"), ("Anna", "小红"), ("Ben", "王强"), ("Lucy", "李娜"), ("Omar", "张伟")),
    *(("Nina", "刘洋"), ("Jack", "陈晨"), ("Mia", "赵敏"), ("Leo", "孙浩"), ("Sara", "周婷")),
    *(("Paul", "吴江"), ("Emma", "郑欣"), ("Ravi", "冯刚"), ("Kate", "何静"), ("Hugo", "马骏")),
    *(("Zoe", "林悦"), ("Eric", "高远"), ("Amy", "罗岚"), ("Ivan", "梁宇"), ("Rosa", "唐欣")),
)
"""English and Chinese given names; the pairs share nothing but their place."""

THINGS = (
    *(("apples", "苹果", "个"), ("books", "书", "本"), ("pencils", "铅笔", "支")),
    *(("eggs", "鸡蛋", "个"), ("stickers", "贴纸", "张"), ("marbles", "弹珠", "颗")),
    *(("chairs", "椅子", "把"), ("cookies", "饼干", "块"), ("stamps", "邮票", "张")),
    *(("bottles", "瓶子", "个"), ("tickets", "票", "张"), ("flowers", "花", "朵")),
    *(("oranges", "橙子", "个"), ("cups", "杯子", "个"), ("candies", "糖", "颗")),
)
"""Things that are counted: in English, in Chinese, and the Chinese measure word."""

NOUNS = (
    *(
        ("apple", "苹果"),
        ("banana", "香蕉"),
        ("table", "桌子"),
        ("window", "窗户"),
        ("river", "河流"),
    ),
    *(("mountain", "高山"), ("garden", "花园"), ("school", "学校"), ("teacher", "老师")),
    *(("doctor", "医生"), ("kitchen", "厨房"), ("bicycle", "自行车"), ("computer", "电脑")),
    *(("camera", "相机"), ("blanket", "毯子"), ("pencil", "铅笔"), ("market", "市场")),
    *(("bridge", "大桥"), ("island", "岛屿"), ("forest", "森林"), ("tomato", "番茄")),
    *(("potato", "土豆"), ("orange", "橙子"), ("cherry", "樱桃"), ("lemon", "柠檬")),
    *(("carrot", "胡萝卜"), ("bread", "面包"), ("cheese", "奶酪"), ("butter", "黄油")),
    *(("coffee", "咖啡"), ("rabbit", "兔子"), ("monkey", "猴子"), ("tiger", "老虎")),
    *(("elephant", "大象"), ("giraffe", "长颈鹿"), ("penguin", "企鹅"), ("dolphin", "海豚")),
    *(("violin", "小提琴"), ("guitar", "吉他"), ("piano", "钢琴"), ("hammer", "锤子")),
    *(("ladder", "梯子"), ("basket", "篮子"), ("candle", "蜡烛"), ("mirror", "镜子")),
    *(("ticket", "车票"), ("letter", "信件"), ("winter", "冬天"), ("summer", "夏天")),
    *(("planet", "行星"), ("rocket", "火箭"), ("engine", "发动机"), ("station", "车站")),
    *(("airport", "机场"), ("library", "图书馆"), ("hospital", "医院"), ("museum", "博物馆")),
    *(("umbrella", "雨伞"), ("notebook", "笔记本"), ("keyboard", "键盘"), ("hotel", "酒店")),
    *(("water", "清水"), ("music", "音乐"), ("story", "故事"), ("paper", "纸张")),
    *(("sugar", "白糖"), ("horse", "马匹"), ("house", "房子"), ("cloud", "云朵")),
)
"""Nouns in English and in Chinese."""

_SOLD = (
    *("apple", "banana", "table", "bicycle", "computer", "camera", "blanket", "pencil", "orange"),
    *("lemon", "carrot", "violin", "guitar", "piano", "hammer", "ladder", "basket", "candle"),
    *("mirror", "ticket", "umbrella", "notebook", "keyboard", "rocket", "engine"),
)
GOODS = tuple(pair for pair in NOUNS if pair[0] in _SOLD)
"""Those that a shop may sell, with a plural in s."""

LONG_WORDS = (
    *("mississippi", "committee", "strawberry", "bookkeeper", "parallel", "accommodation"),
    *("successful", "occurrence", "possession", "embarrass", "necessary", "recommendation"),
    *("university", "literature", "temperature", "programming", "refrigerator", "responsibility"),
    *(
        "communication",
        "neighbourhood",
        "international",
        "independent",
        "butterfly",
        "encyclopedia",
    ),
)
"""English words whose letters are hard to keep count of."""

SENTENCES = (
    ("The cat sleeps on the warm roof", "小猫在屋顶上睡觉"),
    ("We will meet again next Friday", "我们下周五再见面"),
    ("My sister bought a red bicycle", "姐姐买了一辆红色自行车"),
    ("Please close the window before you leave", "离开前请关好窗户"),
    ("The train to the coast was late today", "今天去海边的火车晚点了"),
    ("Children like to play in the park", "孩子们喜欢在公园里玩"),
    ("He drinks coffee without sugar every morning", "他每天早上喝不加糖的咖啡"),
    ("The new library opens at nine", "新图书馆九点开门"),
    ("Nobody knew the answer to her question", "没有人知道她问题的答案"),
    ("It rained all day in the mountains", "山里下了一整天的雨"),
    ("Our team won the last game", "我们队赢了最后一场比赛"),
    ("She writes long letters to her grandmother", "她给奶奶写长长的信"),
    ("The soup needs more salt and pepper", "这碗汤要多放点盐和胡椒"),
    ("Birds fly south when winter comes", "冬天来了鸟儿飞往南方"),
    ("I forgot my keys at the office", "我把钥匙忘在办公室了"),
    ("The old bridge is closed for repairs", "那座老桥正在维修"),
    ("They planted two trees behind the house", "他们在房子后面种了两棵树"),
    ("This phone has a very good camera", "这部手机的相机很好用"),
    ("The meeting starts in ten minutes", "会议十分钟后开始"),
    ("Fresh bread smells wonderful", "新鲜面包闻起来真香"),
)
"""Plain sentences without their full stop; a pair says the same thing."""
