"""What the models are asked: tasks whose answers must carry personal data, in both languages.

The people are made up; numbers have correct check digits so that they are found.
"""

from __future__ import annotations

from typing import Any

from msgspec import Struct

_ENGLISH = (
    "Hi, my name is Laura Bennett. Reach me at laura.bennett@mail-corp.com or +1 415-555-2671."
)
_CHINESE = "我叫王小明，手机号13812345678，邮箱wang.xm@mail-corp.cn，请尽快安排发货。"


class Task(Struct, frozen=True):
    """One request, and the values that belong into its answer."""

    name: str
    language: str
    prompt: str
    values: tuple[str, ...]
    members: dict[str, Any] = {}
    """More of the body."""


def _tool(description: str) -> dict[str, Any]:
    parameters = {
        "type": "object",
        "properties": {"name": {"type": "string"}, "email": {"type": "string"}},
        "required": ["name", "email"],
    }
    function = {"name": "save_contact", "description": description, "parameters": parameters}
    choice = {"type": "function", "function": {"name": "save_contact"}}
    return {"tools": [{"type": "function", "function": function}], "tool_choice": choice}


_LAURA = ("Laura Bennett", "laura.bennett@mail-corp.com", "+1 415-555-2671")
_WANG = ("王小明", "13812345678", "wang.xm@mail-corp.cn")
TASKS = (
    Task("rewrite", "en", f"Rewrite this more formally, with all details:\n{_ENGLISH}", _LAURA),
    Task("translate", "en", f"Translate into French:\n{_ENGLISH}", _LAURA),
    Task(
        "draft",
        "en",
        f"Draft a short e-mail to a colleague, asking to contact this customer today. Give the "
        f"name, e-mail address and telephone number.\n{_ENGLISH}",
        _LAURA,
    ),
    Task(
        "extract",
        "en",
        f"Extract name, email and phone as JSON.\n{_ENGLISH}",
        _LAURA,
        {"response_format": {"type": "json_object"}},
    ),
    Task("tool", "en", f"Save this contact.\n{_ENGLISH}", _LAURA[:2], _tool("Saves a contact.")),
    Task("rewrite", "zh", f"请把下面的话改写得更正式，保留所有信息：\n{_CHINESE}", _WANG),
    Task("translate", "zh", f"请翻译成英文：\n{_CHINESE}", _WANG[1:]),
    Task(
        "draft",
        "zh",
        f"请给同事写一封简短的邮件，请他今天联系这位客户，写明姓名、电话和邮箱。\n{_CHINESE}",
        _WANG,
    ),
    Task(
        "extract",
        "zh",
        f"请把姓名、电话、邮箱提取为JSON。\n{_CHINESE}",
        _WANG,
        {"response_format": {"type": "json_object"}},
    ),
    Task(
        "tool", "zh", f"请保存这位联系人。\n{_CHINESE}", (_WANG[0], _WANG[2]), _tool("保存联系人")
    ),
)
