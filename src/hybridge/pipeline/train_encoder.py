r"""Distils the scorer's encoder, English and Chinese, from two larger ones.

    python -m hybridge.pipeline.train_encoder --prompts FOLDER --dictionary dict.txt \
        --english all-MiniLM-L6-v2 --multilingual e5-small --work FOLDER --out encoder
    hybridge models export encoder --out encoder-fp32
    hybridge models quantize encoder-fp32 --out encoder-int8 --mode static --embeddings int8

`--prompts`: recorded outcomes, of which only the prompts of sources with a licence for training are
read: no label of any outcome is used. `--dictionary`: jieba's (MIT). `--english`: the teacher whose
space it is, and `--multilingual`: the one that reads Chinese, brought into that space by a linear
map fitted on English texts; both in Hugging Face's layout (`hybridge.pipeline.e5_folder` makes the
second one's from a package). `--known`: vectors of the first that are there already, as `keys` and
`x` in a NumPy file. `--work` keeps the teachers' vectors and the passes: a run that was stopped
goes on. Needs the extra `export`.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import torch
from tokenizers import Tokenizer

from hybridge.pipeline.both_ends import read
from hybridge.pipeline.destination import check_free
from hybridge.pipeline.encoder_teachers import Map, Teacher, Vectors
from hybridge.pipeline.encoder_texts import Texts, gathered, held_out
from hybridge.pipeline.student import Lesson, School, Student, cosines, save, vocabulary

QUERY = "query: "
"""What multilingual-e5 wants before a text."""
BOTH_SENTENCES, BOTH_WORDS = 6000, 3000
"""English texts that both teachers read, besides the questions."""
CHINESE = ("一", "鿿")


class Teachers:
    """Both, in the space of the first."""

    def __init__(self, english: Teacher, multilingual: Teacher, texts: Texts) -> None:
        self._english = english
        self._multilingual = multilingual
        asked = texts.english["questions"]
        both = [*asked, *texts.english["sentences"][:BOTH_SENTENCES]]
        both += texts.english["words"][:BOTH_WORDS]
        source = multilingual.vectors(both, "English, multilingual teacher")
        target = english.vectors(both, "English, English teacher")
        kept = np.array([held_out(text) for text in both])
        self._map = Map.fitted(source[~kept], target[~kept])
        chinese = multilingual.vectors(texts.chinese["questions"], "Chinese questions")
        self._language = chinese.mean(axis=0) - source[: len(asked)].mean(axis=0)
        mapped = self._map(source[kept], np.zeros_like(self._language))
        self.map_cosine = float((mapped * target[kept]).sum(axis=1).mean())
        """Of English texts that the map was not fitted on."""

    def english(self, texts: Sequence[str], title: str) -> Vectors:
        """Of English texts, and of anything that is not Chinese."""
        return self._english.vectors(texts, title)

    def chinese(self, texts: Sequence[str], title: str) -> Vectors:
        """Of Chinese texts."""
        return self._map(self._multilingual.vectors(texts, title), self._language)


def targets(texts: Texts, teachers: Teachers) -> dict[str, tuple[list[str], Vectors]]:
    """Texts and vectors of each group, by language and name."""
    english = {
        f"en {name}": (group, teachers.english(group, f"English {name}"))
        for name, group in texts.english.items()
    }
    chinese = {
        f"zh {name}": (group, teachers.chinese(group, f"Chinese {name}"))
        for name, group in texts.chinese.items()
    }
    return english | chinese


def words(tokenizer: Tokenizer, teachers: Teachers) -> Vectors:
    """A vector of each token of the vocabulary, in its order."""
    by_id = sorted(tokenizer.get_vocab().items(), key=lambda item: item[1])
    names = [name.removeprefix("##") for name, _id in by_id]
    chinese = [name for name in names if CHINESE[0] <= name[0] <= CHINESE[1]]
    others = [name for name in names if name not in set(chinese)]
    known = dict(zip(chinese, teachers.chinese(chinese, "Chinese characters"), strict=True))
    known |= dict(zip(others, teachers.english(others, "English tokens"), strict=True))
    return np.stack([known[name] for name in names])


def lessons(
    groups: Mapping[str, tuple[list[str], Vectors]], tokenizer: Tokenizer
) -> tuple[Lesson, dict[str, Lesson]]:
    """What is taught, and what is kept to measure on."""
    ids = {name: read(tokenizer, texts) for name, (texts, _) in groups.items()}
    kept = {name: [held_out(text) for text in texts] for name, (texts, _) in groups.items()}
    taught = [
        (one, vector)
        for name, (_, vectors) in groups.items()
        for one, vector, out in zip(ids[name], vectors, kept[name], strict=True)
        if not out
    ]
    apart = {
        name: Lesson(
            [one for one, out in zip(ids[name], kept[name], strict=True) if out],
            vectors[np.array(kept[name])],
        )
        for name, (_, vectors) in groups.items()
    }
    return Lesson([one for one, _ in taught], np.stack([row for _, row in taught])), apart


def measured(student: Student, apart: Mapping[str, Lesson]) -> dict[str, float]:
    """The mean cosine to the teacher on texts that were kept out, by group."""
    return {
        name: round(float(cosines(student, lesson).mean()), 4) for name, lesson in apart.items()
    }


def _vocabulary(texts: Texts, path: Path) -> Tokenizer:
    """Kept with the passes: another run might put equally frequent pieces in another order."""
    if not path.is_file():
        vocabulary(texts.every()).save(str(path))
    return Tokenizer.from_file(str(path))


def main(argv: Sequence[str] | None = None) -> None:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__)
    for name in ("prompts", "dictionary", "english", "multilingual", "work", "out"):
        parser.add_argument(f"--{name}", type=Path, required=True)
    parser.add_argument("--known", type=Path)
    for name, usual in {"passes": 3, "threads": 1, "seed": 4}.items():
        parser.add_argument(f"--{name}", type=int, default=usual)
    arguments = parser.parse_args(argv)
    check_free(arguments.out)
    torch.set_num_threads(arguments.threads)
    torch.manual_seed(arguments.seed)
    work: Path = arguments.work
    work.mkdir(parents=True, exist_ok=True)
    rng = random.Random(arguments.seed)  # noqa: S311 - no secrets here
    texts = gathered(arguments.prompts, arguments.dictionary, rng)
    english = Teacher(arguments.english, work / "english.npz")
    if arguments.known:
        with np.load(arguments.known) as known:
            english.knows(dict(zip(map(str, known["keys"]), known["x"], strict=True)))
    multilingual = Teacher(arguments.multilingual, work / "multilingual.npz", QUERY)
    teachers = Teachers(english, multilingual, texts)
    groups = targets(texts, teachers)
    tokenizer = _vocabulary(texts, work / "tokenizer.json")
    taught, apart = lessons(groups, tokenizer)
    student = Student(tokenizer.get_vocab_size(), taught.vectors.shape[1])
    student.begin(words(tokenizer, teachers), taught.vectors)
    sizes = {name: len(group) for name, (group, _) in groups.items()}
    log = [{"map": round(teachers.map_cosine, 4), "texts": sizes}, measured(student, apart)]
    print(*map(json.dumps, log), sep="\n", flush=True)
    school = School(student, taught, arguments.passes, arguments.seed)
    school.resume(work / "checkpoint.pt")
    for number in school.passes(work / "checkpoint.pt"):
        print(json.dumps({"pass": number, **measured(student, apart)}), flush=True)
    save(student, tokenizer, arguments.out)
    sys.stderr.write(f"{arguments.out} is written\n")


if __name__ == "__main__":
    main()
