"""Chinese surnames, the commonest first, and what a name made of one looks like."""

from __future__ import annotations

_SINGLE = (
    "王李张刘陈杨黄赵吴周徐孙马朱胡郭何林高罗郑梁谢宋唐许韩邓冯曹彭曾肖田董潘袁蔡蒋余于杜叶程"
    "魏苏吕丁任卢姚沈钟姜崔谭陆范汪廖石金韦贾夏付方邹熊白孟秦邱侯江尹薛闫雷龙黎史陶贺顾毛郝龚"
    "邵万钱严洪赖武傅莫孔汤向常温康施文牛樊葛邢安齐易乔伍庞颜倪庄聂章鲁岳翟殷詹申欧耿关兰焦俞"
    "左柳甘祝包宁尚符舒阮柯纪梅童凌毕单季裴霍涂成苗谷盛曲翁冉骆蓝路游辛靳管柴蒙鲍华喻祁蒲房滕"
    "屈饶解牟艾尤阳时穆农司卓古吉缪简车项连芦麦褚娄窦戚岑景党宫费卜冷晏席卫米柏宗瞿桂全佟应臧"
    "闵苟邬边卞姬师和仇栾隋商刁沙荣巫寇桑郎甄丛仲虞敖巩明佘池查麻苑迟邝官封谈匡鞠惠荆乐冀郁胥"
    "南班储原栗燕楚鄢劳谌奚皮粟冼蔺楼盘满闻位厉伊仝区郜海阚花权强帅屠豆朴盖练廉禹井祖漆巴丰支"
    "卿国狄平计索宣晋相初门云容敬来扈晁芮都普阙浦戈伏鹿薄邸雍辜羊阿乌母裘亓修邰赫杭况那宿鲜印"
    "逯隆茹诺战慕危玉银亢嵇公哈湛宾戎勾茅利於呼居揭干但尉冶斯元束檀衣信展阴昝智幸奉植衡富尧闭"
    "由"
)
DOUBLE = "欧阳|上官|司马|诸葛|皇甫|东方|尉迟|公孙|令狐|慕容|司徒|夏侯|端木|独孤"

CHINESE_NAME = rf"(?:(?:{DOUBLE}|[{_SINGLE}])[\u4e00-\u9fff]{{1,2}})"
"""A surname and one or two characters, as a pattern. Many words match: it needs a cue beside it."""

FIRST_OF_SURNAMES = _SINGLE + "".join(surname[0] for surname in DOUBLE.split("|"))
"""What a name may begin with, as the inside of a character class."""
