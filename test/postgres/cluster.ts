/**
 * A cluster of PostgreSQL that belongs to a test: in a directory of its own, on a socket in it, with no password and no
 * port. Its binaries are those that Debian installs, of the latest version that is there.
 */
import { spawn, spawnSync } from "node:child_process"
import * as fs from "node:fs"
import * as net from "node:net"
import * as os from "node:os"
import * as path from "node:path"

/** A cluster that may be started and stopped. */
export interface Cluster {
  readonly directory: string
  readonly url: string
  readonly start: () => Promise<void>
  /** `fast` as an operator stops it, `immediate` as a crash does; it has ended when that is done. */
  readonly stop: (mode: "fast" | "immediate") => Promise<void>
  /** Makes a standby the primary. */
  readonly promote: () => void
}

/**
 * How a cluster runs. `durable`: a commit waits for the disk. `settings`: `name=value`. `within`: the beginning of a command
 * that runs the server, as root. `network`: from where it takes connections beside its socket.
 */
export interface Options {
  readonly durable?: boolean
  readonly settings?: ReadonlyArray<string>
  readonly within?: ReadonlyArray<string>
  readonly network?: string
}

const folder = "/usr/lib/postgresql"
const versions = fs.existsSync(folder) ? fs.readdirSync(folder).toSorted((a, b) => Number(b) - Number(a)) : []

/** The server refuses to run as root, so it runs as the user whom the package has made for it. */
const isRoot = process.geteuid?.() === 0
const user = isRoot ? /^postgres:[^:]*:(\d+):(\d+):/m.exec(fs.readFileSync("/etc/passwd", "utf8")) : undefined
const identity: { readonly uid?: number; readonly gid?: number } = user
  ? { uid: Number(user[1]), gid: Number(user[2]) }
  : {}

/** The directory of the binaries; undefined where there are none that can run. */
export const binaries: string | undefined =
  isRoot && !user
    ? undefined
    : versions
        .map((version) => path.join(folder, version, "bin"))
        .find((bin) => fs.existsSync(path.join(bin, "initdb")))

/** Why tests of it do not run here, in a line that they print. */
export const skipped = `skipped: the tests with PostgreSQL, which is not below ${folder} (Debian: apt-get install postgresql)`

/** Makes a cluster in a directory that is there and empty; it is not started yet. */
export const make = (directory: string, options: Options = {}): Cluster => {
  const data = path.join(directory, "data")
  if (isRoot) fs.chownSync(directory, identity.uid!, identity.gid!)
  run("initdb", ["-D", data, "-A", "trust", "-U", "postgres", "-E", "UTF8", "--locale=C", "--no-sync"])
  if (options.network !== undefined)
    fs.appendFileSync(path.join(data, "pg_hba.conf"), `host all all ${options.network} trust\n`)
  return at(directory, options)
}

/** Makes a standby of a cluster that runs, in a directory that is there and empty; it is not started yet. */
export const standbyOf = (primary: Cluster, directory: string, options: Options = {}): Cluster => {
  if (isRoot) fs.chownSync(directory, identity.uid!, identity.gid!)
  const from = ["-h", primary.directory, "-U", "postgres", "-c", "fast", "-X", "stream", "--no-sync"]
  run("pg_basebackup", ["-D", path.join(directory, "data"), "-R", ...from])
  return at(directory, options)
}

/** The cluster that was made in this directory. */
export const at = (directory: string, { durable = false, network, settings = [], within }: Options = {}): Cluster => {
  const data = path.join(directory, "data")
  const socket = path.join(directory, ".s.PGSQL.5432")
  return {
    directory,
    url: `postgres://postgres@localhost/postgres?host=${encodeURIComponent(directory)}`,
    start: async () => {
      const all = [
        `listen_addresses=${network === undefined ? "" : "*"}`,
        `unix_socket_directories=${directory}`,
        "max_connections=60",
        ...(durable ? [] : ["fsync=off", "full_page_writes=off"]),
        ...settings
      ]
      const log = fs.openSync(path.join(directory, "log"), "a")
      const own = [path.join(binaries!, "postgres"), "-D", data, ...all.flatMap((one) => ["-c", one])]
      const { gid, uid } = identity
      const [command, ...args] =
        within === undefined
          ? own
          : [...within, "setpriv", `--reuid=${uid}`, `--regid=${gid}`, "--clear-groups", ...own]
      const server = spawn(command!, args, {
        ...(within === undefined && identity),
        cwd: directory,
        detached: true,
        stdio: ["ignore", log, log]
      })
      server.unref()
      fs.closeSync(log)
      await until(
        () => takes(socket),
        () => `${directory} did not start: ${tail(path.join(directory, "log"))}`
      )
    },
    stop: async (mode) => {
      const pid = pidOf(data)
      if (pid === undefined) return
      process.kill(pid, mode === "fast" ? "SIGINT" : "SIGQUIT")
      await until(
        async () => !isAlive(pid),
        () => `${directory} did not stop`
      )
    },
    promote: () => run("pg_ctl", ["promote", "-w", "-D", data])
  }
}

/** Has a database run statements, with a client of its own. */
export const ask = (url: string, statements: string): Promise<void> =>
  new Promise((done, failed) => {
    const client = spawn(path.join(binaries!, "psql"), [url, "-qX", "-v", "ON_ERROR_STOP=1", "-c", statements], {
      stdio: "ignore"
    })
    client.once("close", (code) => (code === 0 ? done() : failed(new Error(`psql ended with ${code}`))))
  })

/** The process of a running server. */
const pidOf = (data: string): number | undefined => {
  const file = path.join(data, "postmaster.pid")
  const pid = fs.existsSync(file) ? Number(fs.readFileSync(file, "utf8").split("\n")[0]) : undefined
  return pid !== undefined && isAlive(pid) ? pid : undefined
}

const isAlive = (pid: number): boolean => {
  try {
    process.kill(pid, 0)
  } catch {
    return false
  }
  // One that was started here and has ended is still there until this process hears of it.
  return !/\) Z /.test(fs.existsSync(`/proc/${pid}/stat`) ? fs.readFileSync(`/proc/${pid}/stat`, "utf8") : "")
}

/** Does the server take connections? It answers the start of a session, if only with a refusal. */
const takes = (socket: string): Promise<boolean> =>
  new Promise((done) => {
    const connection = net.connect(socket)
    const text = Buffer.from("user\0postgres\0database\0postgres\0\0")
    const start = Buffer.alloc(8 + text.length)
    start.writeInt32BE(start.length, 0)
    start.writeInt32BE(196_608, 4)
    text.copy(start, 8)
    connection.once("connect", () => connection.write(start))
    connection.once("data", (answer) => {
      connection.destroy()
      done(answer[0] === "R".charCodeAt(0))
    })
    connection.once("error", () => done(false))
    connection.once("end", () => done(false))
  })

const until = async (is: () => Promise<boolean>, why: () => string): Promise<void> => {
  for (let i = 0; i < 1200; i++) {
    if (await is()) return
    await new Promise((done) => setTimeout(done, 25))
  }
  throw new Error(why())
}

const tail = (file: string): string => fs.readFileSync(file, "utf8").slice(-1000)

const run = (command: string, args: ReadonlyArray<string>): void => {
  const { status, stderr } = spawnSync(path.join(binaries!, command), args, {
    ...identity,
    cwd: os.tmpdir(),
    encoding: "utf8"
  })
  if (status !== 0) throw new Error(`${command} failed: ${stderr}`)
}
