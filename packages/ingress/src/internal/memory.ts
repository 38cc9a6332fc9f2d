/**
 * Memory: a store that forgets when its process ends.
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import { Buffer } from "node:buffer"
import { randomUUID } from "node:crypto"
import * as AppendChain from "../AppendChain.ts"
import { type AppendError, Deleted, NotFound } from "../IngressError.ts"
import type { Appended, Head, IngressStore, Range } from "../IngressStore.ts"
import * as SessionDigest from "../SessionDigest.ts"
import { keyOf, type StreamAddress } from "../StreamAddress.ts"
import type { StreamLine } from "../StreamLine.ts"
import * as Hub from "./hub.ts"
import { answerOf } from "./verdict.ts"

/** The lines of one stream, their places by key, and the last boundary. */
interface Lines {
  readonly all: Array<Omit<StreamLine, "value">>
  readonly places: Map<string, number>
  boundary: number
  end: AppendChain.Position
  bytes: number
  updatedAt: number
}

interface Session {
  readonly tenant: string
  readonly session: string
  readonly streams: Map<string, Lines>
  digest: SessionDigest.SessionDigest
  epoch: number
  deleted: boolean
}

const empty = (updatedAt: number): Lines => ({
  all: [],
  places: new Map(),
  boundary: 1,
  end: { uuid: undefined, seq: 0 },
  bytes: 0,
  updatedAt
})

/** What is known of a stream to judge an attempt by. */
const headOf = ({ all, end, places }: Lines, epoch: number, attempt: AppendChain.Attempt): AppendChain.Head => {
  const known = new Map<string, { readonly seq: number; readonly hash: string }>()
  for (const { key } of attempt.lines) {
    const seq = places.get(key)
    if (seq !== undefined) known.set(key, { seq, hash: all[seq - 1]!.hash })
  }
  return { ...end, epoch, known }
}

const add = (lines: Lines, added: ReadonlyArray<StreamLine>, now: number): void => {
  // The parsed value of a line weighs more than its text.
  for (const { value: _, ...line } of added) {
    lines.places.set(line.key, lines.all.push(line))
    lines.bytes += Buffer.byteLength(line.text)
    if (line.kind === "boundary") lines.boundary = lines.all.length
  }
  lines.end = AppendChain.advance(lines.end, added)
  if (added.length > 0) lines.updatedAt = now
}

const info = ({ bytes, end, updatedAt }: Lines, epoch: number): Head => ({ ...end, epoch, bytes, updatedAt })

/** The page that a range asks for. */
const page = ({ all, boundary }: Lines, { after, bytes, fromBoundary, lines }: Range) => {
  const found: Array<{ readonly seq: number; readonly key: string; readonly text: string }> = []
  let size = 0
  for (let seq = after + 1; seq <= all.length; seq++) {
    const { key, kind, text } = all[seq - 1]!
    if (fromBoundary === true && seq < boundary && kind !== "metadata") continue
    size += Buffer.byteLength(text)
    if (found.length > 0 && (found.length >= lines || size > bytes))
      return { lines: found, next: found.at(-1)!.seq, end: false }
    found.push({ seq, key, text })
  }
  return { lines: found, next: Math.max(after, all.length), end: true }
}

const nothing = new NotFound()
const gone = new Deleted()

/** A store of its own. */
export const make: Effect.Effect<IngressStore["Service"]> = Effect.gen(function* () {
  const clock = yield* Clock.Clock
  const backendId = randomUUID()
  const sessions = new Map<string, Session>()
  const hub = Hub.make()

  const sessionKey = (tenant: string, session: string) => keyOf({ tenant, session, sub: "" })
  const create = (tenant: string, session: string): Session => {
    const key = sessionKey(tenant, session)
    const found = sessions.get(key)
    if (found !== undefined) return found
    const streams = new Map([["", empty(clock.currentTimeMillisUnsafe())]])
    const made = { tenant, session, streams, digest: SessionDigest.empty, epoch: 0, deleted: false }
    sessions.set(key, made)
    return made
  }
  const find = (tenant: string, session: string) =>
    Effect.suspend((): Effect.Effect<Session, NotFound | Deleted> => {
      const found = sessions.get(sessionKey(tenant, session))
      if (found === undefined) return Effect.fail(nothing)
      return found.deleted ? Effect.fail(gone) : Effect.succeed(found)
    })
  const findStream = ({ session, sub, tenant }: StreamAddress) =>
    Effect.flatMap(find(tenant, session), (found) => {
      const lines = found.streams.get(sub)
      return lines === undefined ? Effect.fail(nothing) : Effect.succeed({ found, lines })
    })

  return {
    backendId,
    append: (stream, attempt) =>
      Effect.suspend((): Effect.Effect<Appended, AppendError> => {
        const known = sessions.get(sessionKey(stream.tenant, stream.session))
        if (known?.deleted === true) return Effect.fail(gone)
        const now = clock.currentTimeMillisUnsafe()
        const lines = known?.streams.get(stream.sub) ?? empty(now)
        const epoch = known?.epoch ?? 0
        const verdict = AppendChain.judge(headOf(lines, epoch, attempt), attempt)
        const fresh = AppendChain.linesOf(verdict)
        if (fresh.length > 0) {
          const session = create(stream.tenant, stream.session)
          const mine = stream.sub === "" ? session.streams.get("")! : lines
          session.streams.set(stream.sub, mine)
          add(mine, fresh, now)
          if (stream.sub === "") session.digest = SessionDigest.merge(session.digest, SessionDigest.of(fresh))
          hub.tell(keyOf(stream))
          return Effect.fromResult(answerOf(verdict, mine.end, epoch))
        }
        return Effect.fromResult(answerOf(verdict, lines.end, epoch))
      }),
    read: (stream, range) => Effect.map(findStream(stream), ({ lines }) => page(lines, range)),
    head: (stream) => Effect.map(findStream(stream), ({ found, lines }) => info(lines, found.epoch)),
    streams: (tenant, session) =>
      Effect.map(find(tenant, session), ({ epoch, streams }) =>
        Array.from(streams, ([sub, lines]) => ({ sub, ...info(lines, epoch) })).toSorted((a, b) =>
          compare(a.sub, b.sub)
        )
      ),
    sessions: (tenant, { after = "", limit, project }) =>
      Effect.sync(() =>
        [...sessions.values()]
          .filter((one) => one.tenant === tenant && !one.deleted && one.session > after)
          .filter(({ digest }) => project === undefined || digest.first.project === project)
          .toSorted((a, b) => compare(a.session, b.session))
          .slice(0, limit)
          .map(({ digest, epoch, session, streams }) => ({ session, digest, ...info(streams.get("")!, epoch) }))
      ),
    claim: (tenant, session) =>
      Effect.suspend(() => {
        const found = create(tenant, session)
        if (found.deleted) return Effect.fail(gone)
        found.epoch += 1
        return Effect.succeed(info(found.streams.get("")!, found.epoch))
      }),
    remove: (tenant, session) =>
      Effect.map(
        Effect.catchTag(find(tenant, session), "Deleted", () => Effect.fail(nothing)),
        (found) => {
          for (const sub of found.streams.keys()) hub.tell(keyOf({ tenant, session, sub }))
          found.streams.clear()
          found.deleted = true
        }
      ),
    changes: hub.changes,
    probe: Effect.void
  }
})

/** Names are ASCII: the order of UTF-16 units is that of bytes. */
const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)
