/**
 * What a remote costs, beside the least that it can cost, in the same run: `node bench/remote.ts [--reps N] [--quick]`.
 *
 *   client   one entry a PUT, and ten, to the same bare server: ours beside node:http, fetch and Effect's client alone
 *   server   one entry a PUT from eight sessions of a bare client: ours over each store beside node:http; CPU is the server's
 *   store    one append after the other: ours beside a bare insert, both on the disk when they return
 *
 * G10 one entry a PUT: ≥ 0.9 of the rate of node:http, ≥ 1.8 of that of fetch; ten a PUT: ≥ 3 of the former.
 */
import "effect/schema/SchemaJITCompiler/enable"
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import * as AppendChain from "@reprise/ingress/AppendChain"
import * as Ingress from "@reprise/ingress/Ingress"
import * as IngressClient from "@reprise/ingress/IngressClient"
import * as IngressStore from "@reprise/ingress/IngressStore"
import * as PostgresIngressStore from "@reprise/ingress/PostgresIngressStore"
import * as SqliteIngressStore from "@reprise/ingress/SqliteIngressStore"
import * as StreamLine from "@reprise/ingress/StreamLine"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as ManagedRuntime from "effect/ManagedRuntime"
import * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import * as HttpClient from "effect/http/HttpClient"
import * as HttpClientRequest from "effect/http/HttpClientRequest"
import { Buffer } from "node:buffer"
import * as fs from "node:fs"
import * as path from "node:path"
import * as Cluster from "../test/postgres/cluster.ts"
import { type Args, compare, type Run, timed, type Variant } from "./support/compare.ts"
import { entries } from "./support/entries.ts"
import * as Floors from "./support/remoteFloors.ts"
import * as Remote from "./support/remoteProcess.ts"
import { main, type Measure, rowOf } from "./support/report.ts"

/** Entries of at most 20 KB, as they are sent. */
const sent = (count: number): ReadonlyArray<Floors.Sent> =>
  entries(2 * count, 9)
    .map((entry) => ({ uuid: entry.uuid, text: JSON.stringify(entry) }))
    .filter(({ text }) => text.length < 20_000)
    .slice(0, count)

const lineOf = ({ text }: Floors.Sent) => Result.getOrThrow(StreamLine.ofEntry(text))
const keyed = ({ text, uuid }: Floors.Sent) => ({ key: uuid, text })
const batchOf = (all: ReadonlyArray<Floors.Sent>): string =>
  all.map((one) => `${StreamLine.encode(keyed(one))}\n`).join("")

/** As a body, for those who send bodies: one entry, or a batch of lines. */
const asBody =
  (send: Floors.Send): Send =>
  (id, all, last) =>
    send(id, all.length === 1 ? all[0]!.text : batchOf(all), last)

/** Sends entries of a session behind a last id. */
type Send = (session: string, all: ReadonlyArray<Floors.Sent>, last: string | undefined) => Promise<void>

/** Sends all entries of a session, so many at a time, each behind the one before. */
type Chain = (all: ReadonlyArray<Floors.Sent>, each: number) => Promise<void>

let runs = 0
/** A session that no run before had. */
const session = (): string => `r${process.pid}-${runs++}`

const chain =
  (send: Send): Chain =>
  async (all, each) => {
    const id = session()
    for (let i = 0; i < all.length; i += each) await send(id, all.slice(i, i + each), all[i - 1]?.uuid)
  }

/** The same in one effect. */
const effectChain =
  <R>(
    runtime: ManagedRuntime.ManagedRuntime<R, unknown>,
    send: (...args: Parameters<Send>) => Effect.Effect<unknown, unknown, R>
  ): Chain =>
  (all, each) =>
    runtime.runPromise(
      Effect.gen(function* () {
        const id = session()
        for (let i = 0; i < all.length; i += each) yield* send(id, all.slice(i, i + each), all[i - 1]?.uuid)
      })
    )

/** The client's own CPU and time, to a bare server. */
const client = (note: string, each: number, make: (port: number) => Chain | Promise<Chain>): Variant => ({
  note,
  setup: async (args: Args) => {
    const { port } = await Remote.start("bareServer.ts")
    return { all: sent(Number(args["entries"])), chain: await make(port) }
  },
  run: async ({ all, chain }): Promise<Run> => ({ n: all.length, ...(await timed(() => chain(all, each))) })
})

const urlOf = (port: number): string => `http://127.0.0.1:${port}`
const optionsOf = (port: number) => ({ urls: [urlOf(port)], token: Redacted.make("bench"), gzip: false })

/** `HttpClient` over `node:http`, as the floor is; connections are kept, which its layer does not do by itself. */
const overNode = NodeHttpClient.layerNodeHttpOptions({ keepAlive: true })

/** Our client, one entry a request. */
const puts = async (layer: Layer.Layer<Ingress.Ingress, unknown>): Promise<Chain> => {
  const runtime = ManagedRuntime.make(layer)
  const { put } = await runtime.runPromise(Ingress.Ingress)
  return effectChain(runtime, (id, all, last) => put(id, all[0]!.text, last))
}

/** Our client, a batch a request. */
const appends = async (port: number): Promise<Chain> => {
  const runtime = ManagedRuntime.make(IngressClient.layerNode(optionsOf(port)))
  const { append } = await runtime.runPromise(Ingress.Ingress)
  return effectChain(runtime, (id, all, lastUuid) =>
    append({ session: id, sub: "" }, { lines: all.map(keyed), lastUuid })
  )
}

/** Effect's client alone, with the requests of the floor. */
const bareClient =
  (layer: Layer.Layer<HttpClient.HttpClient>, isTraced: boolean) =>
  async (port: number): Promise<Chain> => {
    const runtime = ManagedRuntime.make(
      Layer.merge(
        layer,
        Layer.succeed(HttpClient.TracerDisabledWhen, () => !isTraced)
      )
    )
    const { execute } = await runtime.runPromise(HttpClient.HttpClient)
    return effectChain(runtime, (id, [one], last) => {
      const { "content-type": type, ...headers } = Floors.headersOf(last, false)
      const request = HttpClientRequest.put(`${urlOf(port)}${Floors.pathOf(id)}`, { headers })
      const body = Buffer.from(one!.text)
      return Effect.flatMap(execute(HttpClientRequest.bodyUint8Array(request, body, type)), ({ text }) => text)
    })
  }

/** The server's CPU, with eight sessions at once of a bare client. */
const server = (note: string, program: (args: Args) => Promise<ReadonlyArray<string>>): Variant => ({
  note,
  setup: async (args: Args) => {
    const remote = await Remote.start(...((await program(args)) as [string, ...Array<string>]))
    const all = sent(Math.floor(Number(args["entries"]) / SESSIONS))
    return { all, remote, send: asBody(Floors.plain(remote.port)) }
  },
  run: async ({ all, remote, send }): Promise<Run> => {
    const before = await remote.cpu()
    const { ms } = await timed(() => Promise.all(Array.from({ length: SESSIONS }, () => chain(send)(all, 1))))
    const n = SESSIONS * all.length
    return { n, ms, cpuMs: (await remote.cpu()) - before, perSecond: Math.round((1000 * n) / ms) }
  }
})

const SESSIONS = 8

/** A store in this process, or what stands for one: one append after the other. */
const store = (
  note: string,
  make: (args: Args) => Promise<(stream: string, seq: number, one: Floors.Sent, last: string | undefined) => unknown>
): Variant => ({
  note,
  setup: async (args: Args) => ({ all: sent(Number(args["entries"])), append: await make(args) }),
  run: async ({ all, append }): Promise<Run> => {
    const stream = session()
    const time = await timed(async () => {
      for (let i = 0; i < all.length; i++) await append(stream, i + 1, all[i], all[i - 1]?.uuid)
    })
    return { n: all.length, ...time, perSecond: Math.round((1000 * all.length) / time.ms) }
  }
})

const appendsTo = async (layer: Layer.Layer<IngressStore.IngressStore, unknown>) => {
  const runtime = ManagedRuntime.make(Layer.orDie(layer))
  const { append } = await runtime.runPromise(IngressStore.IngressStore)
  return (stream: string, _: number, one: Floors.Sent, last: string | undefined) =>
    runtime.runPromise(append({ tenant: "t", session: stream, sub: "" }, AppendChain.compat(lineOf(one), last)))
}

const fileIn = ({ scratch }: Args): string => path.join(scratch, `${process.pid}.db`)

/** The address of a cluster of this process, whose commits wait for the disk. */
const postgres = async ({ scratch }: Args): Promise<string> => {
  fs.chmodSync(scratch, 0o755)
  const cluster = Cluster.make(fs.mkdtempSync(path.join(scratch, "pg-")), { durable: true })
  await cluster.start()
  const [pid] = fs.readFileSync(path.join(cluster.directory, "data", "postmaster.pid"), "utf8").split("\n")
  process.once("exit", () => process.kill(Number(pid), "SIGQUIT"))
  return cluster.url
}

/** By name, for the process that runs one. */
export const variants: { readonly [name: string]: Variant } = {
  serial: client("floor: node:http, connections kept, one entry a PUT", 1, (port) => chain(asBody(Floors.plain(port)))),
  fetch: client("global fetch, one entry a PUT", 1, (port) => chain(asBody(Floors.fetched(port)))),
  put: client("ours, one entry a PUT", 1, (port) => puts(IngressClient.layerNode(optionsOf(port)))),
  putHttpClient: client("ours over HttpClient over node:http", 1, (port) =>
    puts(IngressClient.layer(optionsOf(port)).pipe(Layer.provide(overNode)))
  ),
  httpClient: client("HttpClient over node:http, nothing of ours", 1, bareClient(overNode, true)),
  httpClientUntraced: client("the same, without spans", 1, bareClient(overNode, false)),
  undiciUntraced: client("HttpClient over undici, without spans", 1, bareClient(NodeHttpClient.layerUndici, false)),
  batch10: client("node:http, ten lines a PUT", 10, (port) => chain(asBody(Floors.plain(port)))),
  append10: client("ours, ten lines a PUT", 10, appends),
  bare: server("floor: node:http, compares heads in memory", async () => ["bareServer.ts"]),
  memory: server("ours, in memory", async () => ["ourServer.ts", "memory"]),
  sqlite: server("ours, SQLite", async (args) => ["ourServer.ts", "sqlite", fileIn(args)]),
  postgres: server("ours, PostgreSQL; without the CPU of the database", async (args) => [
    "ourServer.ts",
    "postgres",
    await postgres(args)
  ]),
  sqliteInsert: store("floor: a row a transaction, node:sqlite", async (args) => Floors.sqliteInsert(fileIn(args))),
  sqliteStore: store("SqliteIngressStore", (args) => appendsTo(SqliteIngressStore.layer({ file: fileIn(args) }))),
  postgresInsert: store("floor: a row a transaction, sql-pg", async (args) =>
    Floors.postgresInsert(await postgres(args))
  ),
  postgresStore: store("PostgresIngressStore", async (args) =>
    appendsTo(PostgresIngressStore.layer({ url: Redacted.make(await postgres(args)) }))
  )
}

/** G10, and what our server and stores cost. */
export const measure: Measure = ({ quick, reps, scratch, seed }) => {
  const run = (
    names: ReadonlyArray<string>,
    count: number,
    byTurns?: { readonly warm: number; readonly times: number }
  ) =>
    compare({
      module: new URL(import.meta.url),
      variants: names,
      reps,
      together: quick || byTurns !== undefined,
      warm: quick ? 1 : (byTurns?.warm ?? 2),
      times: quick ? 1 : (byTurns?.times ?? 3),
      args: { entries: quick ? count / 5 : count, seed, scratch }
    })
  // By turns in one process: what a client adds is less than what the machine does between two processes.
  const alone = quick ? [] : ["putHttpClient", "httpClient", "httpClientUntraced", "undiciUntraced"]
  const clients = run(["serial", "fetch", "put", ...alone, "batch10", "append10"], 1500, { warm: 5, times: 10 })
  // A cluster takes seconds to make, and no goal asks for one.
  const hasPostgres = Cluster.binaries !== undefined && !quick
  if (Cluster.binaries === undefined) console.log(Cluster.skipped)
  const servers = run(["bare", "memory", "sqlite", ...(hasPostgres ? ["postgres"] : [])], 2000)
  const sqlite = run(["sqliteInsert", "sqliteStore"], 500)
  const databases = hasPostgres ? run(["postgresInsert", "postgresStore"], 500) : new Map()
  const ratio = (name: string) => rowOf(clients, name)?.ratio ?? NaN
  return {
    tables: new Map([
      ["client, to a bare server", clients],
      ["server, eight sessions, one entry a PUT", servers],
      ["store, SQLite, one after the other", sqlite],
      ...(hasPostgres ? [["store, PostgreSQL, one after the other", databases] as const] : [])
    ]),
    goals: [
      { name: "G10 one entry a PUT, rate over serial", value: 1 / ratio("put"), least: 0.9 },
      { name: "G10 … over fetch", value: ratio("fetch") / ratio("put"), least: 1.8 },
      { name: "G10 ten a PUT, rate over serial", value: 1 / ratio("append10"), least: 3 }
    ]
  }
}

if (import.meta.main) main({ remote: measure })
