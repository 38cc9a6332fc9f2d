/**
 * FileHost: plans and backups where Claude Code keeps them, as ports of resuming.
 *
 *   <config>/plans/<slug>.md                     PlanStore
 *   <config>/file-history/<session>/…            FileHistoryStore
 *
 * A log of another configuration (a path from elsewhere) brings those that lie beside it.
 */
import * as Host from "@reprise/recovery/Host"
import * as PlanFiles from "@reprise/storage/PlanFiles"
import * as ProjectPath from "@reprise/storage/ProjectPath"
import * as SessionBackups from "@reprise/storage/SessionBackups"
import * as SessionFiles from "@reprise/storage/SessionFiles"
import type * as Config from "effect/Config"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as path from "node:path"

const failing = (port: string) => Effect.mapError((cause: Error) => new Host.HostFailed({ port, cause }))

/**
 * Both ports over the files of a configuration directory.
 *
 * @category layers
 * @since 0.1.0
 */
export const layerWith = (options: {
  readonly config: string
}): Layer.Layer<Host.PlanStore | Host.FileHistoryStore> => {
  const own = { plans: path.join(options.config, "plans"), fileHistory: path.join(options.config, "file-history") }
  const plans = Layer.succeed(Host.PlanStore)({
    copy: ({ to }, { content, path: said, slug = path.parse(said ?? "").name }) => {
      if (slug === "") return Effect.succeed({ copied: 0, gone: [] })
      const beside = { ...SessionFiles.directoriesOf(to.path), slug }
      return PlanFiles.bring({ from: [beside], to: { ...own, slug }, text: content }).pipe(
        Effect.map((how) => ({ copied: how === "brought" ? 1 : 0, gone: how === "gone" ? [slug] : [] })),
        failing("PlanStore")
      )
    }
  })
  const backups = Layer.succeed(Host.FileHistoryStore)({
    copy: ({ from, to: { path: log, sessionId } }, history) => {
      const names = history.flatMap((one) =>
        [...one.backups.values()].flatMap(({ backupFileName }) => backupFileName ?? [])
      )
      const beside = SessionFiles.directoriesOf(log)
      const places = [own, beside].flatMap((place) => [sessionId, from].map((id) => ({ ...place, sessionId: id })))
      return SessionBackups.bring(names, { from: places, to: { ...own, sessionId } }).pipe(
        Effect.map(({ brought, gone }) => ({ copied: brought.length, gone })),
        failing("FileHistoryStore")
      )
    }
  })
  return Layer.merge(plans, backups)
}

/**
 * Both ports over the files of `$CLAUDE_CONFIG_DIR`, or `~/.claude`.
 *
 * @category layers
 * @since 0.1.0
 */
export const layer: Layer.Layer<Host.PlanStore | Host.FileHistoryStore, Config.ConfigError> = Layer.unwrap(
  Effect.map(ProjectPath.configDirectory, (config) => layerWith({ config }))
)
