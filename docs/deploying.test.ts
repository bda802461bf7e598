// Holds the files below deploy/ to the service that they start: its settings, its probes, the time that it takes to
// stop, and a user who may nothing. The tools of each kind of file look at it where they are installed.

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { promisify } from "node:util";
import { variables } from "../server/src/config.ts";
import { codeBlocksOf } from "./test/code-block.ts";

const execute = promisify(execFile);
const root = join(import.meta.dirname, "..");
const analyze = "systemd-analyze";
const withoutSystemd = await execute(analyze, ["--version"]).then(
  () => false as const,
  () => "there is no systemd-analyze",
);
const isRoot = process.geteuid?.() === 0;
const withoutBuildah = await execute("buildah", ["--version"]).then(
  () => (isRoot ? false : "buildah without root needs settings of the machine"),
  () => "there is no buildah",
);

const textOf = (path: string) => readFileSync(join(root, path), "utf8");
const folder = mkdtempSync(join(tmpdir(), "cs-deploy-"));
after(() => rmSync(folder, { recursive: true }));

const settings = new Set(variables.flatMap(([names]) => names.split(", ")));
/** docs/operating.md, "As a service of the system". */
const stopSeconds = 24;

/** A parser of YAML comes with what only tests need; without it these tests are skipped, visibly. */
const yamlFile = join(root, "n8n/node_modules/yaml/package.json");
const withoutYaml = existsSync(yamlFile) ? false : "no parser of YAML is installed";
// biome-ignore lint/suspicious/noExplicitAny: a document as its parser gives it
type Document = any;
function documentsOf(path: string): Document[] {
  const yaml = createRequire(yamlFile)("yaml");
  return yaml.parseAllDocuments(textOf(path), { merge: true }).map((document: Document) => {
    assert.deepEqual([document.errors, document.warnings], [[], []], path);
    return document.toJS();
  });
}

const isSetting = (name: string) => assert.ok(settings.has(name), `${name} is no setting`);

test("the image names settings that exist, is nobody's but an ordinary user's, and probes what the service answers", () => {
  const containerfile = textOf("deploy/Containerfile");
  const last = containerfile.slice(containerfile.lastIndexOf("\nFROM "));
  assert.match(last, /^\nFROM scratch$/m, "nothing but what was put in");
  const [, uid = ""] = /^USER (\d+):\d+$/m.exec(last) ?? [];
  assert.ok(Number(uid) > 0, "Kubernetes can only tell a number from root");
  const [, environment = ""] = /^ENV (.+)$/m.exec(last) ?? [];
  const names = environment.split(" ").map((pair) => pair.split("=")[0] ?? "");
  for (const name of names.filter((each) => each !== "NODE_ENV")) isSetting(name);
  assert.match(last, /^HEALTHCHECK .* CMD \["\/usr\/bin\/node", "deploy\/alive\.mjs"\]$/m);
  assert.match(textOf("deploy/alive.mjs"), /\/healthz/);
  assert.ok(existsSync(join(root, "server/bin/countersign.mjs")));
  for (const kept of ["data", "**/.env", ".git"]) {
    assert.ok(textOf("deploy/Containerfile.dockerignore").split("\n").includes(kept), kept);
  }
});

test("the parts of compose.yaml fit each other and the service", { skip: withoutYaml }, () => {
  const [{ services, volumes }] = documentsOf("deploy/compose/compose.yaml");
  assert.deepEqual(Object.keys(services).sort(), ["api", "database", "mail", "migrate", "worker"]);
  assert.match(services.database.image, /postgres:18$/);
  assert.deepEqual(Object.keys(volumes), ["database"]);
  for (const name of ["api", "worker", "migrate"]) {
    const { environment, build, ...service } = services[name];
    for (const setting of Object.keys(environment)) isSetting(setting);
    assert.equal("DATABASE_OWNER_URL" in environment, name === "migrate");
    assert.ok(existsSync(join(root, "deploy/compose", build.context, build.dockerfile)));
    assert.equal(service.read_only, true);
    assert.deepEqual(service.cap_drop, ["ALL"]);
    assert.ok(Number.parseInt(service.stop_grace_period, 10) > 5 + stopSeconds);
    for (const other of Object.keys(service.depends_on)) assert.ok(other in services);
  }
  const published = Object.values(services).flatMap((each) => (each as Document).ports ?? []);
  for (const port of published) assert.match(port, /^127\.0\.0\.1:/, "to this machine alone");
});

test("compose.yaml makes the two roles that the documentation says", () => {
  const sqlOf = (text: string) =>
    text
      .split("\n")
      .filter((line) => /^(create|revoke|grant) /.test(line))
      .map((line) => line.replace(/password .*;/, "password …;"));
  const [block] = codeBlocksOf("docs/operating.md", textOf("docs/operating.md")).filter(
    ({ text }) => text.includes("create role countersign_owner"),
  );
  assert.deepEqual(sqlOf(textOf("deploy/compose/roles.sh")), sqlOf(block?.text ?? ""));
});

test("the manifests of Kubernetes fit each other and the service", { skip: withoutYaml }, () => {
  const documents = documentsOf("deploy/kubernetes/countersign.yaml");
  const ofKind = (kind: string) => documents.filter((each) => each.kind === kind);
  const [config] = ofKind("ConfigMap");
  for (const name of Object.keys(config.data)) isSetting(name);
  const drainSeconds = Number(config.data.DRAIN_SECONDS);
  const deployments = ofKind("Deployment");
  const roles: string[] = [];
  for (const { metadata, spec } of deployments) {
    const { template } = spec;
    const labels = template.metadata.labels;
    assert.deepEqual(spec.selector.matchLabels, labels, metadata.name);
    assert.deepEqual(metadata.labels, labels);
    assert.equal(spec.strategy.rollingUpdate.maxUnavailable, 0, "an upgrade takes nobody away");
    assert.ok(template.spec.terminationGracePeriodSeconds > drainSeconds + stopSeconds);
    const { runAsNonRoot, runAsUser } = template.spec.securityContext;
    assert.equal(runAsNonRoot, true);
    assert.ok(textOf("deploy/Containerfile").includes(`USER ${runAsUser}:`));
    const [container] = template.spec.containers;
    const [migrate] = template.spec.initContainers;
    for (const each of [container, migrate]) {
      const { securityContext } = each;
      assert.equal(securityContext.readOnlyRootFilesystem, true);
      assert.equal(securityContext.allowPrivilegeEscalation, false);
      assert.deepEqual(securityContext.capabilities.drop, ["ALL"]);
    }
    const secretsOf = (each: Document) =>
      each.envFrom.flatMap(({ secretRef }: Document) => secretRef?.name ?? []);
    assert.ok(secretsOf(migrate).includes("countersign-owner"));
    assert.ok(!secretsOf(container).includes("countersign-owner"), "the service can't migrate");
    for (const { name, value } of container.env) {
      isSetting(name);
      if (name === "ROLE") roles.push(value);
    }
    const ports = new Map<string, number>(
      container.ports.map((port: Document) => [port.name, port.containerPort]),
    );
    assert.equal(ports.get("probes"), Number(config.data.PROBE_PORT));
    const { livenessProbe, readinessProbe, startupProbe } = container;
    for (const probe of [livenessProbe, readinessProbe, startupProbe]) {
      assert.ok(ports.has(probe.httpGet.port));
    }
    assert.equal(livenessProbe.httpGet.path, "/healthz", "a database that is away is no reason");
    assert.equal(startupProbe.httpGet.path, "/healthz");
    assert.equal(readinessProbe.httpGet.path, "/readyz");
    const { periodSeconds, failureThreshold } = readinessProbe;
    assert.ok(periodSeconds * failureThreshold < drainSeconds, "it hears of the end in time");
  }
  assert.deepEqual(roles.sort(), ["api", "worker"]);
  const parts = (kind: string) =>
    ofKind(kind).map(({ spec }) => (spec.selector.matchLabels ?? spec.selector).part);
  assert.deepEqual(parts("PodDisruptionBudget").sort(), ["api", "worker"]);
  assert.deepEqual(parts("Service"), ["api"]);
});

test("the probes answer at the paths that the files name", () => {
  const probes = textOf("server/src/http/api/health.ts");
  for (const path of ["/healthz", "/readyz"]) assert.ok(probes.includes(`"${path}"`), path);
});

/** With the paths of this clone, because systemd looks whether the program is there. */
function unitFile(): string {
  const path = join(folder, "countersign.service");
  writeFileSync(
    path,
    textOf("deploy/systemd/countersign.service").replaceAll("/opt/countersign", root),
  );
  return path;
}

test("the unit names settings that exist, and gives the service the time that it needs to stop", () => {
  const unit = textOf("deploy/systemd/countersign.service");
  const given = [...unit.matchAll(/^Environment=(.+)$/gm)].flatMap(([, pairs = ""]) =>
    pairs.split(" ").map((pair) => pair.split("=")[0] ?? ""),
  );
  for (const name of given.filter((each) => each !== "NODE_ENV")) isSetting(name);
  const [, seconds = ""] = /^TimeoutStopSec=(\d+)$/m.exec(unit) ?? [];
  assert.ok(Number(seconds) > 5 + stopSeconds);
  assert.match(unit, /^User=countersign$/m);
  const [, program = ""] = /^ExecStart=\S+ (\S+) serve$/m.exec(unit) ?? [];
  assert.ok(existsSync(join(root, program)));
});

test("systemd finds nothing wrong with the unit", { skip: withoutSystemd }, async () => {
  const { stderr } = await execute(analyze, ["verify", "--man=no", unitFile()]);
  // It may speak of other units of this machine.
  assert.doesNotMatch(stderr, /countersign/);
});

test("systemd calls the unit's exposure small", { skip: withoutSystemd }, async (t) => {
  const { stdout } = await execute(analyze, [
    ...["security", "--offline=true", "--no-pager", unitFile()],
  ]).catch((error: { stdout: string }) => error);
  const [, level] = /Overall exposure level for countersign\.service: ([\d.]+)/.exec(stdout) ?? [];
  if (level === undefined) return t.skip("this systemd-analyze reads no files");
  assert.ok(Number(level) <= 2, `${level} of 10`);
});

test("buildah reads the Containerfile", { skip: withoutBuildah }, async () => {
  // Nothing is pulled: an empty base is enough to parse every line up to the first that runs.
  const empty = mkdtempSync(join(folder, "empty-"));
  const file = join(folder, "Containerfile");
  const text = textOf("deploy/Containerfile");
  writeFileSync(file, text.slice(text.lastIndexOf("\nFROM ")).replace(/^COPY .*$/m, ""));
  const parts = ["--root", join(folder, "root"), "--runroot", join(folder, "runroot")];
  const storage = ["--storage-driver", "vfs", ...parts];
  const tag = ["--format", "docker", "--isolation", "chroot", "--tag", "countersign-parsed"];
  await execute("buildah", [...storage, "build", ...tag, "--file", file, empty]);
  const { stdout } = await execute("buildah", [...storage, "inspect", "countersign-parsed"]);
  const { OCIv1 } = JSON.parse(stdout);
  assert.equal(OCIv1.config.User, "65532:65532");
  assert.deepEqual(OCIv1.config.Cmd, ["serve"]);
});
