import type { Arguments } from './check-arguments.ts'
import type { Plan } from './plan.ts'

/**
 * LangChain's single-input tools have one argument, `input`; models give it whatever name they like.
 * Such a call gets an `input`: its only text, otherwise all of its arguments.
 */
export function fitSingleInput(plan: Plan, args: Arguments): Arguments {
  if (Object.hasOwn(args, 'input') || Object.keys(args).length === 0) return args
  if (plan.singleInput === 'any') return { input: args }
  const texts = Object.values(args).filter(value => typeof value === 'string')
  return { input: texts.length === 1 ? texts[0] : JSON.stringify(args) }
}
