/** Stores that break a rule on purpose: what a checker must not let pass. Each is the one in memory, and one mistake. */
import * as IngressStore from "@reprise/ingress/IngressStore"
import type * as HistoryChecker from "@reprise/ingress/testing/HistoryChecker"
import { Effect, Layer } from "effect"

type Service = IngressStore.IngressStore["Service"]

interface Broken {
  readonly mistake: string
  /** Rules of which it breaks at least one. */
  readonly breaks: ReadonlyArray<HistoryChecker.Rule>
  readonly make: (right: Service) => Partial<Service>
}

/** A mistake that happens every so often. */
const every = (n: number): (() => boolean) => {
  let count = 0
  return () => ++count % n === 0
}

export const all: ReadonlyArray<Broken> = [
  {
    mistake: "answers before it commits",
    breaks: ["lost"],
    make: ({ append, head }) => {
      const isNow = every(5)
      return {
        append: (stream, attempt) => {
          if (!isNow()) return append(stream, attempt)
          const end = Effect.orElseSucceed(head(stream), () => ({ seq: 0, uuid: undefined, epoch: 0 }))
          const uuid = attempt.lines.findLast((line) => line.uuid !== undefined)?.uuid
          return Effect.map(end, ({ epoch, seq, uuid: before }) => ({
            uuid: uuid ?? before,
            seq: seq + attempt.lines.length,
            epoch,
            duplicate: false,
            mismatched: []
          }))
        }
      }
    }
  },
  {
    mistake: "appends whatever the head is",
    breaks: ["unchained"],
    make: ({ append }) => ({ append: (stream, attempt) => append(stream, { ...attempt, lastUuid: "*" }) })
  },
  {
    mistake: "forgets which keys it holds",
    breaks: ["doubled"],
    make: ({ append, read }) => {
      let count = 0
      return {
        append: (stream, attempt) => {
          const n = ++count
          const lines = attempt.lines.map((line) => ({ ...line, key: `${line.key}~${n}` }))
          return append(stream, { ...attempt, lines, lastUuid: "*" })
        },
        read: (stream, range) =>
          Effect.map(read(stream, range), (page) => ({
            ...page,
            lines: page.lines.map((line) => ({ ...line, key: line.key.replace(/~\d+$/, "") }))
          }))
      }
    }
  },
  {
    mistake: "takes lines of any epoch",
    breaks: ["stale"],
    make: ({ append, head }) => ({
      append: (stream, attempt) =>
        Effect.flatMap(
          Effect.orElseSucceed(head({ ...stream, sub: "" }), () => ({ epoch: attempt.epoch })),
          ({ epoch }) => append(stream, { ...attempt, epoch })
        )
    })
  },
  {
    mistake: "gives one epoch to two writers",
    breaks: ["shared"],
    make: ({ claim, head }) => ({
      claim: (tenant, session, writer) =>
        Effect.catch(head({ tenant, session, sub: "" }), () => claim(tenant, session, writer))
    })
  },
  {
    mistake: "appends the lines of a batch one by one",
    breaks: ["torn"],
    make: ({ append }) => ({
      append: (stream, attempt) =>
        Effect.gen(function* () {
          let done = yield* append(stream, { ...attempt, lines: attempt.lines.slice(0, 1) })
          for (const line of attempt.lines.slice(1)) {
            yield* Effect.sleep(2)
            done = yield* append(stream, { ...attempt, lines: [line], lastUuid: "*" })
          }
          return done
        })
    })
  },
  {
    mistake: "says a place behind the true one",
    breaks: ["misplaced"],
    make: ({ append }) => {
      const isNow = every(5)
      return {
        append: (stream, attempt) =>
          Effect.map(append(stream, attempt), (done) => (isNow() ? { ...done, seq: done.seq + 1 } : done))
      }
    }
  },
  {
    mistake: "reads lines in another order now and then",
    breaks: ["misread"],
    make: ({ read }) => {
      const isNow = every(3)
      return {
        read: (stream, range) =>
          Effect.map(read(stream, range), (page) => (isNow() ? { ...page, lines: page.lines.toReversed() } : page))
      }
    }
  },
  {
    mistake: "changes a text",
    breaks: ["altered"],
    make: ({ read }) => ({
      read: (stream, range) =>
        Effect.map(read(stream, range), (page) => ({
          ...page,
          lines: page.lines.map((line) => ({ ...line, text: line.text.replace("role", "Role") }))
        }))
    })
  },
  {
    mistake: "stores what it refuses",
    breaks: ["revived"],
    make: ({ append, head }) => ({
      append: (stream, attempt) =>
        Effect.catchTag(append(stream, attempt), "StaleEpoch", (refused) =>
          Effect.gen(function* () {
            const { epoch } = yield* Effect.orDie(head({ ...stream, sub: "" }))
            yield* Effect.ignore(append(stream, { ...attempt, epoch, lastUuid: "*" }))
            return yield* refused
          })
        )
    })
  }
]

/** The store in memory with this mistake. */
export const layer = (make: Broken["make"]): Layer.Layer<IngressStore.IngressStore> =>
  Layer.effect(
    IngressStore.IngressStore,
    Effect.map(IngressStore.IngressStore, (right) => ({ ...right, ...make(right) }))
  ).pipe(Layer.provide(IngressStore.layerMemory))
