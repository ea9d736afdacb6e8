"""An agent in another language, on Grove's plumbing: `append` writes, `context` reads, `fork` copies a path.

    python3 agent.py <session.jsonl> <grove> [<word of grove> ...] < prompts

Each line of standard input is a prompt; `/again` asks for another answer to the last one, beside the first.
"""

import json
import subprocess
import sys

path, *grove = sys.argv[1:]


def run(*words, lines=()):
    """Runs grove with entries on its standard input; answers what it printed."""
    text = "".join(json.dumps(line) + "\n" for line in lines)
    done = subprocess.run([*grove, *words], input=text, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(done.stderr.strip())
    return done.stdout


def append(role, text, parent=None):
    """One entry under the leaf, or under `parent`; answers its id once it is on disk."""
    message = {"role": role, "content": [{"type": "text", "text": text}]}
    entry = {"type": "message", "message": message}
    if parent is not None:
        entry["parentId"] = parent
    return run("append", path, "--sync", lines=[entry]).strip()


def model(messages):
    """In place of a request to a model."""
    return f"I was shown {len(messages)} messages."


def answer(prompt):
    """The reply to a prompt, from what the model is shown there."""
    context = json.loads(run("context", path, "--leaf", prompt, "--json"))
    reply = model(context["messages"])
    append("assistant", reply, prompt)
    print(reply)


prompt = None
for line in sys.stdin:
    if line.strip() != "/again" or prompt is None:
        prompt = append("user", line.rstrip("\n"))
    answer(prompt)
print(run("fork", path, "--at", prompt).strip())
