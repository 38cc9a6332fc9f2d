/**
 * SkillState: what a later compaction needs to say again: invoked skills, todos, the plan.
 *
 *   attachment invoked_skills     the skills that were invoked, the last text of each
 *   user todos · todo_reminder    the list as it was last written
 *   plan_file_reference · plan_mode · user planContent · slug      where the plan is, and its last text
 *
 * Folded over the whole log: what was invoked before a boundary is still in use behind it.
 */
import * as Attachment from "@reprise/domain/Attachment"
import * as Content from "@reprise/domain/Content"
import type * as Entry from "@reprise/domain/Entry"
import * as Projection from "@reprise/domain/Projection"

/**
 * A skill as it was last invoked.
 *
 * @category models
 * @since 0.1.0
 */
export interface Skill {
  readonly name: string
  readonly path?: string
  readonly content?: string
}

/**
 * One line of the list of todos; `status` is `pending`, `in_progress`, `completed` (open).
 *
 * @category models
 * @since 0.1.0
 */
export interface Todo {
  readonly content: string
  readonly status?: string
  readonly activeForm?: string
}

/**
 * What has to survive the next compaction.
 *
 * @category models
 * @since 0.1.0
 */
export interface SkillState {
  readonly skills: ReadonlyMap<string, Skill>
  readonly todos: ReadonlyArray<Todo>
  readonly plan: { readonly path?: string; readonly content?: string; readonly slug?: string }
}

/** While the fold is under way its skills grow in place. */
interface Draft extends SkillState {
  readonly skills: Map<string, Skill>
}

/**
 * Folds entries to the skill state of the main lane.
 *
 * @category projections
 * @since 0.1.0
 */
export const projection: Projection.Projection<Entry.Entry, SkillState> = Projection.map(
  Projection.match<Draft>(() => ({ skills: new Map(), todos: [], plan: {} }), {
    user: (state, entry) => {
      const said = entry.planContent !== undefined || entry.todos !== undefined || entry.slug !== state.plan.slug
      if (entry.isSidechain === true || !said) return state
      const plan = {
        ...state.plan,
        ...(typeof entry.planContent === "string" ? { content: entry.planContent } : undefined),
        ...(entry.slug === undefined ? undefined : { slug: entry.slug })
      }
      return { ...state, plan, todos: Array.isArray(entry.todos) ? todosOf(entry.todos) : state.todos }
    },
    assistant: (state, entry) => {
      const { content } = entry.message
      if (entry.isSidechain === true || typeof content === "string") return state
      const written = content.findLast(isTodoWrite)
      const todos = (written?.input as { readonly todos?: unknown } | null | undefined)?.todos
      return Array.isArray(todos) ? { ...state, todos: todosOf(todos) } : state
    },
    attachment: (state, entry) => (entry.isSidechain === true ? state : ofBody(state, entry.attachment))
  }),
  (state): SkillState => ({ ...state, skills: new Map(state.skills) })
)

/** By its name first: of all calls, few are this one. */
const isTodoWrite = (block: unknown): block is Content.ToolUse =>
  (block as { readonly name?: unknown } | null)?.name === "TodoWrite" && Content.isToolUse(block)

const ofBody = (state: Draft, attachment: unknown): Draft => {
  if (Attachment.is("invoked_skills", attachment)) {
    for (const { content, name, path } of attachment.skills ?? []) {
      if (name === undefined) continue
      state.skills.set(name, {
        name,
        ...(path === undefined ? undefined : { path }),
        ...(content === undefined ? undefined : { content })
      })
    }
    return state
  }
  if (Attachment.is("todo_reminder", attachment)) return { ...state, todos: todosOf(attachment.content ?? []) }
  if (Attachment.is("plan_file_reference", attachment)) {
    const { planContent: content, planFilePath: path } = attachment
    return { ...state, plan: { ...state.plan, ...defined({ path, content }) } }
  }
  if (Attachment.is("plan_mode", attachment)) {
    return { ...state, plan: { ...state.plan, ...defined({ path: attachment.planFilePath }) } }
  }
  return state
}

const defined = (keys: { readonly [key: string]: string | undefined }): { readonly [key: string]: string } =>
  Object.fromEntries(Object.entries(keys).flatMap(([key, value]) => (value === undefined ? [] : [[key, value]])))

const todosOf = (todos: ReadonlyArray<unknown>): ReadonlyArray<Todo> =>
  todos.flatMap((todo) => {
    const { activeForm, content, status } = (todo ?? {}) as { readonly [key: string]: unknown }
    if (typeof content !== "string") return []
    return [
      {
        content,
        ...(typeof status === "string" ? { status } : undefined),
        ...(typeof activeForm === "string" ? { activeForm } : undefined)
      }
    ]
  })
