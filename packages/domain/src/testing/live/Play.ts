/**
 * Play: each step, and what plays it.
 */
import * as Step from "../Step.ts"
import * as Aside from "./Aside.ts"
import * as Moves from "./Moves.ts"
import * as Round from "./Round.ts"
import type { LiveSession } from "./Session.ts"
import * as Talk from "./Talk.ts"

/**
 * Lets the session take a step.
 *
 * @category combinators
 * @since 0.1.0
 */
export const take = (session: LiveSession, step: Step.Step): void =>
  Step.match(step, {
    Say: (step) => Talk.say(session, step),
    Reply: (step) => Talk.reply(session, step),
    CallTools: (step) => Round.callTools(session, step),
    Deliver: (step) => Round.deliver(session, step),
    Attach: (step) => Talk.attach(session, step),
    EndTurn: () => Talk.endTurn(session),
    Compact: (step) => Moves.compact(session, step),
    Snip: (step) => Moves.snip(session, step),
    Rewind: (step) => Moves.rewind(session, step),
    Branch: (step) => Moves.branch(session, step),
    Return: (step) => Moves.goBack(session, step),
    Sidechain: (step) => Aside.sidechain(session, step),
    SetMetadata: (step) => Aside.setMetadata(session, step),
    Noise: (step) => Aside.noise(session, step),
    Link: (step) => Aside.link(session, step),
    Crash: (step) => Aside.crash(session, step),
    Resume: () => Aside.resume(session),
    OldShape: ({ shape }) =>
      shape === "root"
        ? Moves.summaryRoot(session)
        : shape === "rewritten"
          ? Moves.rewrite(session)
          : Talk.oldShape(session, { shape })
  })
