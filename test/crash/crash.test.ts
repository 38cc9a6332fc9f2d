/** A share of the crash campaign (`npm run crash`). */
import { describe, it } from "@effect/vitest"
import { Effect } from "effect"
import * as Kill from "./kill.ts"
import * as Seeded from "./seeded.ts"
import * as Takeover from "./takeover.ts"
import * as Writing from "./writing.ts"

describe("kill -9 in the middle of writing", () => {
  for (const durability of ["os", "fsync"] as const) {
    it.live(
      `the log is a prefix of what was accepted and holds all that was flushed; a cut costs one line (${durability})`,
      () => Kill.once(Seeded.make(durability.length), durability),
      240_000
    )
  }

  it.live(
    "eight processes, eight sessions of one project: nothing lost, nothing astray",
    () => Kill.eight(Seeded.make(3)),
    240_000
  )
})

describe("kill -9 while taking over", () => {
  it.live(
    "one of those who wait gets the session, never two, however the one before died; nothing flushed is lost",
    () => Takeover.once(Seeded.make(8), 3),
    240_000
  )
})

describe("the writer", () => {
  it.live("2,000 interruptions: offered = written + queued", () => Writing.interruptions(Seeded.make(4), 2000), 240_000)

  it.live(
    "a disk that crashes after any byte of 200 entries costs at most a line",
    () => Writing.crashes(0, 1),
    240_000
  )

  it.live(
    "a full disk: all that was queued is written, in order, when space returns",
    () =>
      Effect.map(Writing.diskFull(Seeded.make(6)), (isTried) => {
        if (!isTried) console.log("skipped: no file system can be mounted here, and there is no /dev/full")
      }),
    240_000
  )

  it.live("a full device, for any user: the same", () =>
    Effect.map(Writing.deviceFull(Seeded.make(7)), (isTried) => {
      if (!isTried) console.log("skipped: there is no /dev/full here")
    })
  )
})
