/**
 * A directory for the sessions of an example, in the place of `~/.claude`; it is gone afterwards.
 */
import * as NodeFileSystem from "@effect/platform-node-shared/NodeFileSystem"
import * as ConfigProvider from "effect/ConfigProvider"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"

export const inTemporaryDirectory = <A, E>(program: Effect.Effect<A, E>): Promise<A> =>
  Effect.gen(function* () {
    const directory = yield* FileSystem.FileSystem.use((fs) => fs.makeTempDirectoryScoped({ prefix: "reprise-" }))
    const config = ConfigProvider.fromEnv({ env: { CLAUDE_CONFIG_DIR: directory } })
    return yield* Effect.provideService(program, ConfigProvider.ConfigProvider, config)
  }).pipe(Effect.scoped, Effect.provide(NodeFileSystem.layer), Effect.runPromise)
