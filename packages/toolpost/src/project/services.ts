import { ToolExecutor } from '../executor/executor.ts'
import { DEFAULT_MAX_TEXT_BYTES } from '../executor/options.ts'
import { longResults } from '../interceptors/long-results.ts'
import { quietLogger } from '../logging/quiet-logger.ts'
import { Catalog } from '../mcp/catalog.ts'
import { Listeners } from '../runtime/listeners.ts'
import { describeThrown, quietly } from '../runtime/quietly.ts'
import { closeIsolated } from '../tools/isolated.ts'
import { BigResults } from '../tools/results/big-results.ts'
import { ToolManager } from '../tools/tool-manager.ts'
import { Configuration } from './configuration.ts'
import { Control } from './control.ts'
import { ProjectDurable } from './durable/project-durable.ts'
import { ModelChoice } from './model-choice.ts'
import { ownTools, toolsOf } from './own-tools.ts'
import type { Part } from './part.ts'
import type { Project } from './project.ts'
import { ProjectHistory } from './project-history.ts'
import type { ProjectEvents, ProjectOptions } from './project-options.ts'
import { Reports } from './reports.ts'
import type { ResolvedConfig } from './resolve.ts'
import { sampling } from './sampling.ts'
import { Servers } from './servers.ts'
import { Voice } from './voice.ts'

export type Services = ReturnType<typeof createServices>

/** Everything a project consists of, each part with what it needs from the others. Starts nothing; throws a ConfigError. */
export function createServices(project: Project, resolved: ResolvedConfig, options: ProjectOptions) {
  const { config } = resolved
  const logger = quietLogger(options.logger?.(config))
  const say = (text: string) =>
    quietly(
      () => options.say?.(text),
      error => logger.warn({ error: describeThrown(error) }, 'say() failed'),
    )
  const reports = new Reports(say, resolved.notices, options.looksForItself)
  const closing = new AbortController()
  const configuration = new Configuration(resolved, { ...options, say, closing: closing.signal })
  const listeners = new Listeners<ProjectEvents>((event, error) =>
    logger.warn({ event, error: describeThrown(error) }, 'A listener for project events failed'),
  )

  const tools = new ToolManager({ logger })
  for (const tool of toolsOf(resolved)) tools.addCustomTool(tool)
  tools.onChange(() => listeners.tell('tools', tools.getTools()))
  const executor = new ToolExecutor(tools, { ...config.executor, logger })
  const { maxTextBytes = DEFAULT_MAX_TEXT_BYTES } = config.executor ?? {}
  const bigResults = config.bigResults === 'cut' ? undefined : new BigResults({ maxTextBytes })
  // Outermost, so that it sees what the caller gets.
  if (bigResults) executor.use(longResults(bigResults))
  const control = new Control(executor, resolved, {
    server: server => listeners.tell('server', server),
    warn: warning => reports.add(warning),
  })
  const { approvals } = control
  approvals.onChange(waiting => listeners.tell('approval', waiting))

  const common = { configuration, tools, executor, bigResults, approvals, logger, reports, say }
  const model = new ModelChoice({
    ...common,
    whenReady: () => project.ready(),
    onChosen: chosen => listeners.tell('model', chosen),
    ...options.model,
  })
  const onChange = () => listeners.tell('voice', voice?.status() ?? [])
  const voice = options.voice && new Voice(project, options.voice, { onChange, onNotice: say })
  const durable = new ProjectDurable(
    {
      ...common,
      use: interceptor => control.useInside(interceptor),
      onChange: change => listeners.tell('durable', change),
      onBack: pool => control.resetBreaker(pool),
      waitForTool: (name, limitMs) => project.waitForTool(name, limitMs),
    },
    options.durable,
  )
  const catalog = new Catalog()
  const servers = new Servers({
    ...common,
    catalog,
    closing: closing.signal,
    sample: sampling({ executor, choose: () => model.choose() }),
    onStatus: status => control.noteServer(status),
    homeProgram: options.homeProgram,
    triesOnce: options.triesOnce,
  })
  control.useInside(servers.answerAwaited)
  const history = new ProjectHistory(common)

  const isolated: Part = { close: closeIsolated }
  const inOrder = [control, ownTools(tools), model, voice, configuration, durable, servers, history]
  /** In the order in which they apply a configuration and close: control and voice first, so that no new work starts. */
  const parts = new Set<Part>([...inOrder, bigResults?.store, isolated].filter(part => part !== undefined))
  return { ...common, listeners, closing, catalog, control, model, voice, durable, servers, history, parts }
}
