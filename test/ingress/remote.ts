/** A remote in this process: a store behind the port of the client, which fails, forgets and is swapped as a test says. */
import * as AppendChain from "@reprise/ingress/AppendChain"
import * as Ingress from "@reprise/ingress/Ingress"
import { HeadMismatch } from "@reprise/ingress/IngressError"
import * as IngressStore from "@reprise/ingress/IngressStore"
import * as StreamLine from "@reprise/ingress/StreamLine"
import { Effect, Layer, Result, Stream } from "effect"

type Store = IngressStore.IngressStore["Service"]

/** What becomes of a request: all goes well, it never arrives, or its answer is lost. */
export type Fate = "well" | "lost-before" | "lost-after" | Ingress.Failure

const away = new Ingress.Unreachable({ urls: ["memory:"], found: "lost" })

/** A remote with one tenant. */
export const make = Effect.gen(function* () {
  const fresh: Effect.Effect<Store> = Effect.provide(
    IngressStore.IngressStore.use((store) => Effect.succeed(store)),
    Layer.fresh(IngressStore.layerMemory)
  )
  let store = yield* fresh
  let fate: (request: string) => Fate = () => "well"
  const asked: Array<string> = []
  const at = ({ session, sub }: Ingress.Target) => ({ tenant: "t", session, sub })

  const request = <A>(what: string, run: Effect.Effect<A, Ingress.Failure>): Effect.Effect<A, Ingress.Failure> =>
    Effect.suspend(() => {
      asked.push(what)
      const is = fate(what)
      if (is === "well") return run
      if (is === "lost-before") return Effect.fail(away)
      if (is === "lost-after") return Effect.andThen(Effect.exit(run), Effect.fail(away))
      return Effect.fail(is)
    })
  const endOf = ({ seq, uuid }: AppendChain.Position): Ingress.End => ({ head: uuid, seq, backend: store.backendId })
  const all = { after: 0, lines: 1_000_000, bytes: Number.MAX_SAFE_INTEGER }
  const read = (target: Ingress.Target) => Effect.map(store.read(at(target), all), ({ lines }) => lines)

  const ingress = Ingress.Ingress.of({
    urls: ["memory:"],
    append: (target, { backend, lastUuid, lines, writer }) =>
      request(
        `append ${lines.length} behind ${lastUuid ?? "nothing"}${target.sub === "" ? "" : ` in ${target.sub}`}`,
        Effect.suspend(() => {
          const { backendId } = store
          if (backend !== undefined && backend !== backendId)
            return Effect.fail(new HeadMismatch({ seq: 0, backend: backendId }))
          const wire = lines.map((line) => Result.getOrThrow(StreamLine.decode(StreamLine.encode(line))))
          return Effect.map(
            store.append(at(target), AppendChain.native(wire, { lastUuid, epoch: writer?.epoch ?? 0 })),
            (appended) => ({ ...endOf(appended), duplicate: appended.duplicate })
          )
        })
      ),
    put: (session, entry, lastUuid) =>
      request(
        `put behind ${lastUuid ?? "nothing"}`,
        Effect.suspend(() => {
          const line = Result.getOrThrow(StreamLine.ofEntry(entry))
          return store.append(at({ session, sub: "" }), AppendChain.compat(line, lastUuid)).pipe(
            Effect.as<Ingress.Put>({ _tag: "Stored" }),
            Effect.catchTag("HeadMismatch", (error) =>
              Effect.succeed<Ingress.Put>({ _tag: "Refused", head: error.lastUuid })
            )
          )
        })
      ),
    loglines: (session) =>
      Stream.fromEffect(
        request(
          "loglines",
          Effect.map(read({ session, sub: "" }), (lines) => {
            const entries = lines.flatMap(({ text }) => (StreamLine.isEntry(text) ? [text] : []))
            return Buffer.from(`{"loglines":[${entries.join(",")}]}`)
          })
        )
      ),
    lines: (target) =>
      Stream.fromIterableEffect(
        request(
          "lines",
          Effect.map(read(target), (lines) =>
            lines.map((line) => Result.getOrThrow(StreamLine.decode(StreamLine.encode(line))))
          )
        )
      ),
    streams: (session) =>
      request(
        "streams",
        Effect.map(store.streams("t", session), (found) => ({
          epoch: found[0]?.epoch ?? 0,
          streams: found.map(({ bytes, sub, updatedAt, ...end }) => ({ stream: sub, bytes, updatedAt, ...endOf(end) }))
        }))
      ),
    claim: (session, writerId) =>
      request(
        "claim",
        Effect.map(store.claim("t", session, writerId), (head) => ({ ...endOf(head), epoch: head.epoch }))
      ),
    sessions: (project) =>
      Stream.fromIterableEffect(
        request(
          "sessions",
          Effect.map(store.sessions("t", { limit: 1_000, ...(project !== undefined && { project }) }), (found) =>
            found.map(({ bytes, epoch, seq, session, updatedAt, uuid }) => {
              const end = { head: uuid ?? null, epoch, seq, bytes, updatedAt }
              return { session, ...end, summary: {} }
            })
          )
        )
      ),
    remove: (session) => request("remove", store.remove("t", session))
  })

  /** The bytes of a stream, a line for each; undefined where there is none. */
  const text = (session: string, sub = ""): Effect.Effect<string | undefined> =>
    read({ session, sub }).pipe(
      Effect.map((lines) => Buffer.concat(lines.flatMap((line) => [StreamLine.bytesOf(line), LF])).toString()),
      Effect.orElseSucceed(() => undefined)
    )

  return {
    ingress,
    layer: Layer.succeed(Ingress.Ingress, ingress),
    asked,
    text,
    /** Decides over each request, by what it is. */
    decide: (next: (request: string) => Fate): void => void (fate = next),
    /** Another store takes its place, with the first lines of each stream of a session: as many as are told. */
    restore: Effect.fnUntraced(function* (
      session: string,
      kept: (sub: string, count: number) => number,
      options: { readonly sameId: boolean; readonly claims?: number } = { sameId: true }
    ) {
      const before = store
      const next = yield* fresh
      const streams = yield* Effect.orElseSucceed(before.streams("t", session), () => [])
      for (let i = 0; i < (options.claims ?? streams[0]?.epoch ?? 0); i++) yield* next.claim("t", session, "restored")
      for (const { sub } of streams) {
        const { lines } = yield* before.read({ tenant: "t", session, sub }, all)
        const some = lines.slice(0, kept(sub, lines.length))
        const wire = some.map((line) => Result.getOrThrow(StreamLine.decode(StreamLine.encode(line))))
        const epoch = options.claims ?? streams[0]!.epoch
        if (wire.length > 0)
          yield* next.append({ tenant: "t", session, sub }, AppendChain.native(wire, { lastUuid: "*", epoch }))
      }
      store = options.sameId ? { ...next, backendId: before.backendId } : next
    }),
    /** Another program writes. */
    write: (session: string, log: string, sub = "") =>
      Effect.gen(function* () {
        const lines = log
          .trimEnd()
          .split("\n")
          .map((line) => Result.getOrThrow(StreamLine.ofEntry(line, JSON.parse(line).uuid ?? line.slice(0, 99))))
        const { epoch } = yield* Effect.orElseSucceed(store.head({ tenant: "t", session, sub }), () => ({ epoch: 0 }))
        yield* store.append({ tenant: "t", session, sub }, AppendChain.native(lines, { lastUuid: "*", epoch }))
      })
  }
})

const LF = Buffer.from("\n")
