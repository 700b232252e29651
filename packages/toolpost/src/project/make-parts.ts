import { quietLogger } from '../logging/quiet-logger.ts'
import { Catalog } from '../mcp/catalog.ts'
import { Listeners } from '../runtime/listeners.ts'
import { describeThrown, quietly } from '../runtime/quietly.ts'
import { closeIsolated } from '../tools/isolated.ts'
import { assemble, ownTools } from './assemble.ts'
import { Configuration } from './configuration.ts'
import { Control } from './control.ts'
import { ProjectDurable } from './durable/project-durable.ts'
import { ModelChoice } from './model-choice.ts'
import type { Description } from './open-project.ts'
import type { Part } from './part.ts'
import type { Project } from './project.ts'
import { ProjectHistory } from './project-history.ts'
import type { ProjectEvents, ProjectOptions } from './project-options.ts'
import { Reports } from './reports.ts'
import { sampling } from './sampling.ts'
import { Servers } from './servers.ts'
import { Voice } from './voice.ts'

export type Ground = ReturnType<typeof makeGround>
export type Parts = ReturnType<typeof makeParts>

/** What all parts of a project share. Throws a ConfigError on an unusable tool. */
export function makeGround(description: Description, options: ProjectOptions) {
  const logger = quietLogger(options.logger?.(description.config))
  const say = (text: string) =>
    quietly(
      () => options.say?.(text),
      error => logger.warn({ error: describeThrown(error) }, 'say() failed'),
    )
  const reports = new Reports(say, description.notices, options.looksForItself)
  const closing = new AbortController()
  const configuration = new Configuration(description, { ...options, say, closing: closing.signal })
  const { tools, executor, bigResults } = assemble(description, logger)
  const listeners = new Listeners<ProjectEvents>((event, error) =>
    logger.warn({ event, error: describeThrown(error) }, 'A listener for project events failed'),
  )
  const control = new Control(executor, description, {
    server: server => listeners.tell('server', server),
    warn: warning => reports.add(warning),
  })
  const { approvals } = control
  approvals.onChange(waiting => listeners.tell('approval', waiting))
  tools.onChange(() => listeners.tell('tools', tools.getTools()))
  const catalog = new Catalog()
  return {
    ...{ configuration, tools, executor, bigResults, catalog, control, approvals },
    ...{ listeners, logger, reports, say, closing },
  }
}

/** The parts of a project, each with what it needs from the others. Starts nothing. */
export function makeParts(project: Project, ground: Ground, options: ProjectOptions) {
  const { configuration, executor, control, listeners, say } = ground
  const model = new ModelChoice({
    ...ground,
    whenReady: () => project.ready(),
    onChosen: chosen => listeners.tell('model', chosen),
    ...options.model,
  })
  const onChange = () => listeners.tell('voice', voice?.status() ?? [])
  const voice = options.voice && new Voice(project, options.voice, { onChange, onNotice: say })
  const durable = new ProjectDurable(
    {
      ...ground,
      use: interceptor => control.useInside(interceptor),
      onChange: change => listeners.tell('durable', change),
      onBack: pool => control.resetBreaker(pool),
    },
    options.durable,
  )
  const servers = new Servers({
    ...ground,
    closing: ground.closing.signal,
    sample: sampling({ executor, choose: () => model.choose() }),
    onStatus: status => control.noteServer(status),
    homeProgram: options.homeProgram,
    triesOnce: options.triesOnce,
  })
  const history = new ProjectHistory(ground)
  return { configuration, control, model, voice, durable, servers, history }
}

/** The parts in the order in which they apply a configuration and close; control and voice come first, so no new work starts. */
export function inOrder({ tools, bigResults }: Ground, parts: Parts): Set<Part> {
  const { control, model, voice, configuration, durable, servers, history } = parts
  const all = [control, ownTools(tools), model, voice, configuration, durable, servers, history]
  const last: Part = { close: closeIsolated }
  return new Set<Part>([...all, bigResults?.store, last].filter(part => part !== undefined))
}
