# The parts in contrib/ agree: what the compose file and the Kubernetes manifests mount, name and call exists, ports are
# those that somebody listens on, and every command line of parsrec in them is one that it understands.
/usr/bin/python3 -c 'import yaml' 2>/dev/null || missing "no YAML parser (Debian: python3-yaml)"
/usr/bin/python3 - "$PARSREC_SOURCE/contrib" "$PARSREC" >found 2>&1 <<'P'
import pathlib, re, subprocess, sys, yaml

contrib, parsrec = pathlib.Path(sys.argv[1]), sys.argv[2]


def check(condition, what):
    if not condition:
        print(what)


def options(words):
    """Options of a command line of parsrec are in its help, with a value where one is needed."""
    text = subprocess.run([parsrec, words[0], "--help"], capture_output=True, text=True).stdout
    check(text, f"parsrec {words[0]} has no help")
    for w in words[1:]:
        if w.startswith("--"):
            check(re.search(rf"(^|\s){re.escape(w.split('=')[0])}\b", text), f"parsrec {words[0]} has no option {w}")


# ---- compose ----
folder = contrib / "compose"
compose = yaml.safe_load((folder / "compose.yaml").read_text())
services, secrets = compose["services"], compose["secrets"]
for name, s in services.items():
    for v in s.get("volumes", []):
        source = v.split(":")[0]
        if source.startswith("."):
            check(source == "./data" or (folder / source).is_file(), f"{name} mounts {source}, which is not there")
        else:
            check(source in compose["volumes"], f"{name} mounts the volume {source}, which is not declared")
    for secret in s.get("secrets", []):
        check(secret in secrets, f"{name} uses the secret {secret}, which is not declared")
    for other in s.get("depends_on", []):
        check(other in services, f"{name} depends on {other}, which is not there")
    text = str(s.get("command", "")) + str(s.get("environment", ""))
    for secret in re.findall(r"/run/secrets/(\w+)", text):
        check(secret in s["secrets"], f"{name} reads the secret {secret}, which it does not get")
ports = {}
for name in ("server1", "server2"):
    words = services[name]["command"]
    options(words)
    ports[name] = words[words.index("--listen") + 1].rsplit(":", 1)[1]
    health = services[name]["healthcheck"]["test"]
    options(health[2:])
    check(health[-1].endswith(":" + ports[name]), f"the health check of {name} asks another port")
proxy = services["proxy"]["environment"]
config = (contrib / "haproxy/parsrec.cfg").read_text()
for name in re.findall(r"\$\{(PARSREC_\w+)", config):
    check(name in proxy, f"the balancer's {name} is not set")
for name in proxy:
    check("${" + name in config, f"the balancer does not read {name}")
check({proxy["PARSREC_1"], proxy["PARSREC_2"]} == {f"{n}:{p}" for n, p in ports.items()}, "the balancer asks other servers")
check(services["proxy"]["ports"][0].endswith(proxy["PARSREC_BIND"]), "the balancer listens on another port")
prometheus = yaml.safe_load((folder / "prometheus.yml").read_text())
targets = prometheus["scrape_configs"][0]["static_configs"][0]["targets"]
check(set(targets) == {f"{n}:{p}" for n, p in ports.items()}, "Prometheus asks other servers")
mounted = [v.split(":")[1] for v in services["prometheus"]["volumes"]]
for rules in prometheus["rule_files"]:
    check(f"/etc/prometheus/{rules}" in mounted, f"Prometheus has no {rules}")
source = yaml.safe_load((folder / "grafana_source.yml").read_text())["datasources"][0]
check(source["url"] == "http://prometheus:9090", "Grafana asks another Prometheus")
boards = yaml.safe_load((folder / "grafana_boards.yml").read_text())["providers"][0]["options"]["path"]
check(any(v.split(":")[1].startswith(boards + "/") for v in services["grafana"]["volumes"]), "Grafana has no dashboard")
check("parsrec" in services["store"]["environment"]["POSTGRES_USER"], "the store's user")

# ---- Kubernetes ----
folder = contrib / "kubernetes"
plain = {}
for name in ("base/server.yaml", "base/fold.yaml", "secret.yaml"):
    for d in yaml.safe_load_all((folder / name).read_text()):
        plain[d["kind"]] = d
server, fold = plain["Deployment"]["spec"], plain["CronJob"]["spec"]["jobTemplate"]["spec"]
labels = server["template"]["metadata"]["labels"]
for what, wanted in (("Deployment", server["selector"]["matchLabels"]), ("Service", plain["Service"]["spec"]["selector"]),
                     ("PodDisruptionBudget", plain["PodDisruptionBudget"]["spec"]["selector"]["matchLabels"])):
    check(wanted.items() <= labels.items(), f"the {what} selects other pods")
check(plain["PodDisruptionBudget"]["spec"]["minAvailable"] < server["replicas"], "the budget allows no disruption at all")
for pod in (server["template"]["spec"], fold["template"]["spec"]):
    volumes = {v["name"]: v for v in pod["volumes"]}
    check(pod["securityContext"]["runAsNonRoot"], "a pod may run as root")
    check(volumes["secret"]["secret"]["secretName"] == plain["Secret"]["metadata"]["name"], "another secret")
    for c in pod["initContainers"] + pod["containers"]:
        check(c["securityContext"]["readOnlyRootFilesystem"], f"{c['name']} may write to its image")
        where = {m["mountPath"]: m["name"] for m in c["volumeMounts"]}
        for name in where.values():
            check(name in volumes, f"{c['name']} mounts {name}, which is not there")
        words = c.get("args", c.get("command", []))
        if "args" in c:
            options(words)
        for w in words:
            path = w.split("=")[-1]
            if path.startswith("/secret/"):
                check(path[8:] in plain["Secret"]["stringData"], f"{c['name']} reads {path}, which the secret does not have")
            if path.startswith("/"):
                check("/" + path.split("/")[1] in where, f"{c['name']} reads {path}, which is not mounted")
main = server["template"]["spec"]["containers"][0]
port = {p["name"]: p["containerPort"] for p in main["ports"]}
check(f"--listen=0.0.0.0:{port['http']}" in main["args"], "the server listens on another port")
check(plain["Service"]["spec"]["ports"][0]["targetPort"] in port, "the Service leads to another port")
for probe, path in (("startupProbe", "/readyz"), ("readinessProbe", "/readyz"), ("livenessProbe", "/healthz")):
    check(main[probe]["httpGet"] == {"path": path, "port": "http"}, probe)
base = yaml.safe_load((folder / "base/kustomization.yaml").read_text())
for path in base["resources"]:
    check((folder / "base" / path).is_file(), f"kustomization.yaml has {path}, which is not there")
example = yaml.safe_load((folder / "example/kustomization.yaml").read_text())
check(example["resources"] == ["../base"], "the example has another base")
check(set(example["secretGenerator"][0]["files"]) == set(plain["Secret"]["stringData"]), "the example makes another secret")
check(example["images"][0]["name"] == main["image"].split(":")[0], "the example replaces another image")
job = yaml.safe_load((folder / "train-mpijob.yaml").read_text())
roles = job["spec"]["mpiReplicaSpecs"]
launch = roles["Launcher"]["template"]["spec"]["containers"][0]["command"]
check(launch[:2] == ["mpirun", "-n"], "the launcher calls something else")
check(int(launch[2]) == roles["Worker"]["replicas"] * job["spec"]["slotsPerWorker"], "ranks are not slots")
options(launch[launch.index("parsrec") + 1:])
print("looked")
P
same "$(cat found)" looked "contrib/"
# kustomize itself, where kubectl is: it needs no cluster.
if command -v kubectl >/dev/null; then
    cp -r "$PARSREC_SOURCE/contrib/kubernetes" manifests
    for f in token store pgpass; do echo secret >manifests/example/$f; done
    ok kubectl kustomize manifests/example
    same "$(grep -c '^kind: ' stdout)" 5 "objects of the example"
    same "$(grep -c 'image: registry.example.com/parsrec:0.1.0' stdout)" 2 "images of the example"
else
    left_out "kubectl is not there: the kustomization was not built"
fi
if [ -x /usr/sbin/haproxy ]; then
    ok /usr/sbin/haproxy -c -f "$PARSREC_SOURCE/contrib/haproxy/parsrec.cfg"
else
    left_out "haproxy is not there: its configuration was not read"
fi
