/**
 * Writers that share sessions of a remote, and remember what they asked and were told.
 *
 *   sessions 0, 1   all writers append behind the head that they know, or at the end; batches, and single entries (compat)
 *   sessions 2, 3   writers claim before they append, and claim again when they were fenced off
 *
 * A writer does one thing after the other, and asks for each until it is answered.
 */
import type * as Ingress from "@reprise/ingress/Ingress"
import * as IngressClient from "@reprise/ingress/IngressClient"
import type * as HistoryChecker from "@reprise/ingress/testing/HistoryChecker"
import { Effect, Redacted, Result, Stream } from "effect"
import * as Seeded from "../crash/seeded.ts"

/** What the writers need: where the remote is, how many things they do in all, and chance. */
export interface Options {
  readonly urls: ReadonlyArray<string>
  readonly operations: number
  readonly writers: number
  readonly random: Seeded.Random
  readonly timeout?: number
}

/** What they did so far. */
export interface Workload {
  readonly history: ReadonlyArray<HistoryChecker.Event>
  /** How many things they have done, or do. */
  readonly count: () => number
  readonly run: Effect.Effect<void, unknown>
}

/** The longest that a writer asks for one thing, in ms. */
const PATIENCE = 60_000

const streams: ReadonlyArray<Ingress.Target> = [
  { session: "shared", sub: "" },
  { session: "shared", sub: "agents/a1" },
  { session: "claimed", sub: "" },
  { session: "claimed", sub: "a2" }
]
export const nameOf = ({ session, sub }: Ingress.Target): string => `${session}/${sub}`

/** A clock that all processes of a machine share, in ms. */
export const now = (): number => Number(process.hrtime.bigint()) / 1e6

export const client = (urls: ReadonlyArray<string>, timeout: number) =>
  IngressClient.makeNode({ urls, token: Redacted.make("tenant~admin"), timeout, allowPlainHttp: true })

/** What streams hold, as a client reads them. */
export const logsOf = (ingress: Ingress.Ingress["Service"], targets: ReadonlyArray<Ingress.Target> = streams) =>
  Effect.map(
    Effect.forEach(targets, (target) =>
      linesOf(ingress, target).pipe(Effect.map((lines) => [nameOf(target), lines] as const))
    ),
    (logs) => new Map(logs)
  )

const linesOf = (ingress: Ingress.Ingress["Service"], target: Ingress.Target) =>
  Stream.runCollect(ingress.lines(target)).pipe(
    Effect.catchTag("NotFound", () => Effect.succeed([])),
    Effect.map((lines) =>
      lines.map(({ key, text, uuid }): HistoryChecker.Line => ({ key, text, ...(uuid !== undefined && { uuid }) }))
    )
  )

/** An entry with an id, or one in four times metadata, which has none. */
export const lineOf = (key: string, isMetadata: boolean): HistoryChecker.Line =>
  isMetadata
    ? { key: `m-${key}`, text: `{"type":"tag","tag":"${key}"}` }
    : {
        key,
        text: `{"type":"user","message":{"role":"user","content":"${key} ${"·".repeat(100)}"},"uuid":"${key}"}`,
        uuid: key
      }

/** Failures after which a request is sent again. */
const isAway = ({ _tag }: { readonly _tag: string }): boolean =>
  _tag === "Unreachable" || _tag === "Unavailable" || _tag === "TooManyRequests" || _tag === "NotALog"

export const make = ({ operations, random, timeout = 2_000, urls, writers }: Options): Workload => {
  const history: Array<HistoryChecker.Event> = []
  let left = operations

  /** Asks until there is an answer that is no failure of the network or the store. */
  const insist = <A, E extends { readonly _tag: string }>(ask: Effect.Effect<A, E>) => {
    const until = now() + PATIENCE
    const attempt: Effect.Effect<Result.Result<A, E>> = Effect.flatMap(Effect.result(ask), (result) => {
      if (Result.isSuccess(result) || !isAway(result.failure)) return Effect.succeed(result)
      if (now() > until) return Effect.die(new Error(`no answer for ${PATIENCE / 1000} s: ${String(result.failure)}`))
      return Effect.andThen(Effect.sleep(5 + Seeded.below(random, 40)), attempt)
    })
    return attempt
  }

  const writing = Effect.fnUntraced(function* (number: number) {
    const writer = `w${number}`
    // Each begins with a server of its own.
    const turned = urls.map((_, i) => urls[(number + i) % urls.length]!)
    const ingress = yield* client(turned, timeout)
    const heads = new Map<string, string | undefined>()
    let claimed: Ingress.Writer | undefined
    let count = 0

    const claim = Effect.fnUntraced(function* (target: Ingress.Target) {
      const began = now()
      const { epoch } = yield* Effect.fromResult(yield* insist(ingress.claim(target.session, writer)))
      claimed = { id: writer, epoch }
      const ended = now()
      // All streams of a session share its epoch.
      for (const one of streams)
        if (one.session === target.session)
          history.push({ _tag: "Claim", writer, stream: nameOf(one), began, ended, epoch })
    })

    const read = Effect.fnUntraced(function* (target: Ingress.Target) {
      const began = now()
      const lines = yield* Effect.fromResult(yield* insist(linesOf(ingress, target)))
      const keys = lines.map(({ key }) => key)
      history.push({ _tag: "Read", writer, stream: nameOf(target), began, ended: now(), keys })
    })

    const append = Effect.fnUntraced(function* (target: Ingress.Target) {
      const stream = nameOf(target)
      const isCompat = target.session === "shared" && target.sub === "" && random() < 0.4
      const size = isCompat ? 1 : 1 + Seeded.below(random, 4)
      const lines = Array.from({ length: size }, () => lineOf(`${writer}-${++count}`, !isCompat && random() < 0.25))
      const fence = target.session === "claimed" ? claimed : undefined
      const attempts: Array<string | undefined> = []
      let behind = !isCompat && random() < 0.2 ? "*" : heads.get(stream)
      const call = { _tag: "Append", writer, stream, lines, behind: attempts, epoch: fence?.epoch ?? 0 } as const
      const began = now()
      for (;;) {
        attempts.push(behind)
        const ask = isCompat
          ? Effect.map(ingress.put(target.session, lines[0]!.text, behind), putOf(lines[0]!.key))
          : Effect.map(ingress.append(target, { lines, lastUuid: behind, writer: fence }), appendedOf)
        const result = yield* insist(ask)
        if (Result.isSuccess(result)) {
          const answer = result.success
          if (answer._tag === "Refused") {
            behind = answer.head
            continue
          }
          heads.set(stream, answer.end?.head ?? lines.at(-1)!.uuid)
          history.push({ ...call, began, ended: now(), answer })
          return
        }
        if (result.failure._tag === "HeadMismatch") behind = result.failure.lastUuid
        else if (result.failure._tag === "StaleEpoch" && target.session === "claimed") {
          history.push({ ...call, began, ended: now(), answer: { _tag: "Fenced" } })
          claimed = undefined
          return
        } else return yield* result.failure
      }
    })

    while (left-- > 0) {
      const target = streams[Seeded.below(random, streams.length)]!
      if (random() < 0.1) yield* read(target)
      else if (target.session === "claimed" && (claimed === undefined || random() < 0.1)) yield* claim(target)
      else yield* append(target)
    }
  }, Effect.scoped)

  return {
    history,
    count: () => operations - Math.max(0, left),
    run: Effect.forEach(Array.from({ length: writers }).keys(), writing, { concurrency: writers, discard: true })
  }
}

type Told =
  | Extract<HistoryChecker.Answer, { readonly _tag: "Stored" }>
  | Extract<Ingress.Put, { readonly _tag: "Refused" }>

const appendedOf = ({ duplicate, head, seq }: Ingress.End & { readonly duplicate: boolean }): Told => ({
  _tag: "Stored",
  end: { head, seq },
  duplicate
})

/** In the compat profile a log that ends with the entry itself holds it. */
const putOf =
  (own: string) =>
  (put: Ingress.Put): Told =>
    put._tag === "Stored" || put.head === own ? { _tag: "Stored", duplicate: false } : put
