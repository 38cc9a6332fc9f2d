// Packs every package as it would be published, installs the tarballs in a project outside the workspace, and uses them there:
// the types compile, each package loads on this Node, the pure ones on an older Node too where there is one, and `reprise` runs.
import { execFileSync } from "node:child_process"
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { delimiter, dirname, join } from "node:path"
import { fileURLToPath } from "node:url"

const root = fileURLToPath(new URL("..", import.meta.url))
const bin = join(root, "node_modules/.bin")
const names = ["domain", "recovery", "storage", "ingress", "cli"]
const pure = ["domain", "recovery"]
const manifest = (name) => JSON.parse(readFileSync(join(root, "packages", name, "package.json"), "utf8"))

const scratch = mkdtempSync(join(tmpdir(), "reprise-pack-"))
try {
  const tarballs = names.map(pack)
  const consumer = install(tarballs)
  compileTypes(consumer)
  loadAll(consumer)
  runCommand(consumer)
  console.log(`packed, installed, compiled and used: ${names.map((name) => `@reprise/${name}`).join(", ")}`)
} catch (error) {
  console.error(error.message)
  process.exitCode = 1
} finally {
  rmSync(scratch, { recursive: true, force: true })
}

function pack(name) {
  const out = join(scratch, name)
  run(
    "npm",
    ["run", "--silent", "pnpm", "--", "--dir", join("packages", name), "pack", "--pack-destination", out],
    root
  )
  const files = readdirSync(out).filter((file) => file.endsWith(".tgz"))
  if (files.length !== 1) throw new Error(`expected one tarball of ${name}, found ${files.length}`)
  return join(out, files[0])
}

/** Lays a project as a user would have it: the tarballs, and the Effect that the packages were built with. */
function install(tarballs) {
  const effect = manifest("domain").devDependencies.effect
  const dependencies = Object.fromEntries(names.map((name, index) => [`@reprise/${name}`, `file:${tarballs[index]}`]))
  const consumer = join(scratch, "consumer")
  write(consumer, "package.json", {
    name: "consumer",
    private: true,
    type: "module",
    dependencies: { ...dependencies, effect }
  })
  run("npm", ["install", "--no-audit", "--no-fund", "--loglevel=error"], consumer)
  for (const name of names) {
    const installed = JSON.parse(readFileSync(join(consumer, "node_modules/@reprise", name, "package.json"), "utf8"))
    if (!JSON.stringify(installed.exports).includes("./dist/")) throw new Error(`@reprise/${name} exports its sources`)
    if (JSON.stringify(installed).includes("workspace:")) throw new Error(`@reprise/${name} still names the workspace`)
    if (existsSync(join(consumer, "node_modules/@reprise", name, "node_modules/effect"))) {
      throw new Error(`@reprise/${name} brought an Effect of its own`)
    }
  }
  return consumer
}

/** The modules of a package by their published paths. */
function modules(name) {
  return readdirSync(join(root, "packages", name, "src"), { recursive: true })
    .map((file) => file.replaceAll("\\", "/"))
    .filter((file) => file.endsWith(".ts") && !/^(main|index)\.ts$|^internal\//.test(file))
    .map((file) => `@reprise/${name}/${file.replace(/\.ts$/, "")}`)
    .toSorted()
}

function compileTypes(consumer) {
  const imports = names.flatMap((name) => [`@reprise/${name}`, ...modules(name)])
  const lines = imports.map((specifier, index) => `import * as M${index} from "${specifier}"`)
  const uses = `export const all: ReadonlyArray<object> = [${imports.map((_, index) => `M${index}`).join(", ")}]`
  write(consumer, "types.ts", [...lines, uses, ""].join("\n"))
  write(consumer, "tsconfig.json", {
    compilerOptions: {
      module: "nodenext",
      target: "es2023",
      strict: true,
      skipLibCheck: true,
      noEmit: true,
      types: []
    },
    files: ["types.ts"]
  })
  run(process.execPath, [join(root, "node_modules/typescript/bin/tsc"), "-p", consumer], consumer)
}

function loadAll(consumer) {
  const program = (loaded) => `
    for (const specifier of ${JSON.stringify(loaded)}) {
      const module = await import(specifier)
      if (Object.keys(module).length === 0 && !specifier.includes("/", 9)) throw new Error(specifier + " exports nothing")
    }
  `
  write(consumer, "all.mjs", program(names.flatMap((name) => [`@reprise/${name}`, ...modules(name)])))
  write(consumer, "pure.mjs", program(pure.flatMap((name) => [`@reprise/${name}`, ...modules(name)])))
  run(process.execPath, ["all.mjs"], consumer)
  console.log(`every package loads on Node ${process.version}`)
  for (const node of otherNodes()) {
    run(node, ["pure.mjs"], consumer)
    console.log(`the pure packages load on Node ${run(node, ["--version"], consumer).trim()}`)
  }
}

function runCommand(consumer) {
  const path = [dirname(process.execPath), process.env.PATH].join(delimiter)
  const reprise = (...args) =>
    run(join(consumer, "node_modules/.bin/reprise"), args, consumer, { ...process.env, PATH: path })
  if (!reprise("--help").includes("reprise")) throw new Error(`reprise --help printed:\n${reprise("--help")}`)
  const { version } = manifest("cli")
  if (!reprise("--version").includes(version))
    throw new Error(`expected version ${version}, found ${reprise("--version")}`)
  const fixtures = join(root, "test/fixtures")
  for (const args of [
    ["resume", "--json", join(fixtures, "interrupted.jsonl")],
    ["doctor", fixtures]
  ]) {
    const [packed, here] = [reprise(...args), run(process.execPath, [join(root, "packages/cli/src/main.ts"), ...args])]
    if (packed !== here) throw new Error(`reprise ${args.join(" ")}: expected\n${here}\nfound\n${packed}`)
  }
  serve(join(consumer, "node_modules/@reprise/cli/dist/reprise.js"))
  const licences = readFileSync(join(consumer, "node_modules/@reprise/cli/dist/LICENSES.txt"), "utf8")
  for (const name of ["effect", "@effect/platform-node", "@effect/platform-node-shared"]) {
    if (!licences.includes(`${name} `)) throw new Error(`the licence of ${name} is not in LICENSES.txt of @reprise/cli`)
  }
}

/** The installed command serves, with nothing else installed: its server and the thread of its database are beside it. */
function serve(command) {
  const data = join(scratch, "data")
  const program = `
    import { spawn } from "node:child_process"
    const args = [${JSON.stringify(command)}, "serve", "--port", "0", "--data", ${JSON.stringify(data)}]
    const server = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] })
    let printed = ""
    server.on("exit", () => { throw new Error("reprise serve ended; it printed:\\n" + printed) })
    for await (const part of server.stdout) {
      printed += part
      if (printed.includes("listening on ")) break
    }
    const [token] = printed.split("\\n")
    const [, url] = /listening on ([^,]+),/.exec(printed)
    const headers = { authorization: "Bearer " + token }
    const { status } = await fetch(url + "/session/s1", { method: "PUT", headers, body: '{"uuid":"a"}' })
    server.removeAllListeners("exit").kill()
    if (status !== 201) throw new Error("expected reprise serve to answer 201, found " + status)
  `
  write(scratch, "serve.mjs", program)
  run(process.execPath, ["serve.mjs"], scratch)
}

/** The Node that the machine itself has, when the workspace brought another. */
function otherNodes() {
  return (process.env.PATH ?? "")
    .split(delimiter)
    .filter((folder) => !folder.startsWith(root) && folder !== dirname(process.execPath) && folder !== bin)
    .map((folder) => join(folder, "node"))
    .filter((node) => existsSync(node))
    .slice(0, 1)
}

function write(folder, file, content) {
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, file), typeof content === "string" ? content : JSON.stringify(content, null, 2))
}

/** Runs a program and gives what it printed; on failure shows it and stops. */
function run(command, args, cwd, env = process.env) {
  try {
    return execFileSync(command, args, { cwd, env, encoding: "utf8", stdio: ["ignore", "pipe", "inherit"] })
  } catch (error) {
    console.error(error.stdout ?? "")
    throw new Error(`${[command, ...args].join(" ")} failed`, { cause: error })
  }
}
