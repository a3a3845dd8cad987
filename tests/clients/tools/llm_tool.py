import json
import os
import subprocess
import sys
import tempfile

order = json.loads(sys.argv[1])
with open(os.path.join(os.path.dirname(__file__), "llm.yaml"), encoding="utf-8") as file:
    settings = file.read().replace("BASE_URL", order["baseUrl"]).replace("USER", order["user"])
with tempfile.TemporaryDirectory() as directory:
    with open(os.path.join(directory, "extra-openai-models.yaml"), "w", encoding="utf-8") as file:
        file.write(settings)
    environment = {**os.environ, "LLM_USER_PATH": directory}
    command = [sys.executable, "-m", "llm", "-m", "purser", "--key", order["key"], "Hello"]
    ran = subprocess.run(command, env=environment, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL)
failure = None if ran.returncode == 0 else ran.stderr.strip()
print(json.dumps({"text": ran.stdout.strip(), "failure": failure}))
