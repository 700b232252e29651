import type { ToolCall } from '../call/tool-call.ts'
import type { Tool } from '../tools/tool.ts'
import { attemptOf } from './attempt.ts'
import { Failure } from './failure.ts'
import { findTool } from './find-tool.ts'
import { fitArguments } from './fit-arguments.ts'
import { InterceptedCall, type Interceptors } from './intercept.ts'
import type { RunOptions } from './options.ts'
import type { PreparedTools } from './plan.ts'

/** What would happen to a call. */
export interface Foreseen {
  tool?: Tool | undefined
  /** Why it could not run. */
  failure?: Failure | undefined
  /** The policy's verdict; `undefined` if there is no policy. */
  verdict?: PolicyVerdict | undefined
  /** How a person would be asked, if the verdict is to ask. */
  asks?: Asks | undefined
}

type PolicyVerdict = 'allow' | 'ask' | 'deny'

export interface Asks {
  because?: string | undefined
  timeoutMs?: number | undefined
}

/** What an interceptor says about a call in advance, including how it would ask. */
export type Foresight = PolicyVerdict | { asks: Asks }

interface Stages {
  prepared: PreparedTools
  interceptors: Interceptors
}

/** Takes a call through the stages up to the interceptors, which are consulted but not run. Nothing is counted or logged. */
export async function foresee(
  call: ToolCall,
  options: RunOptions,
  { prepared, interceptors }: Stages,
): Promise<Foreseen> {
  const { tools } = prepared
  const { signal = new AbortController().signal } = options
  const attempt = attemptOf(call, options, 0)
  const tool = findTool(tools, attempt.name, options)
  if (tool instanceof Failure) return { failure: tool }
  const { plan } = await prepared.prepare(tool)
  if (plan instanceof Failure) return { tool, failure: plan }
  const fitting = fitArguments(plan, attempt.args ?? {}, options.repair === true)
  const fitted = typeof fitting === 'function' ? await fitting({ signal, caller: options.caller }) : fitting
  if (fitted instanceof Failure) return { tool, failure: fitted }
  const seen = new InterceptedCall(attempt, { tool, args: fitted.args }, tools)
  return { tool, ...(await interceptors.foresee(seen)) }
}
