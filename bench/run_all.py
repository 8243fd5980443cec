"""`make bench`: every measurement behind the numbers in the README and the docs, one after the other.

Name some to run only those: `python bench/run_all.py chroma presets`. Each writes its page in docs/results/. What takes
hours is only run when it is named.
"""

import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
SCRIPTS = (
    "demo", "sentences", "chunking_speed", "overhead", "chroma", "presets", "pdf_speed", "pdf_headings", "topics", "auto",
    "hybrid_optimal", "retrieval", "causes", "report_size", "llm_cuts_cost", "cosines", "pictures", "pdf_tables",
    "published",
)  # fmt: skip
HOURS = ("proposition_coverage",)


def main() -> int:
    wanted = sys.argv[1:] or SCRIPTS
    unknown = [name for name in wanted if name not in (*SCRIPTS, *HOURS)]
    if unknown:
        sys.exit(f"unknown bench {unknown[0]!r}; possible: {', '.join((*SCRIPTS, *HOURS))}")
    failed = [name for name in wanted if subprocess.run([sys.executable, HERE / f"{name}.py"]).returncode]
    print(f"failed: {', '.join(failed)}" if failed else "all done")
    return bool(failed)


if __name__ == "__main__":
    sys.exit(main())
