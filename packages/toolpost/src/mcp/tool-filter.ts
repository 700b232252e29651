import { fitsGlob } from '../runtime/glob.ts'

/** Whether a tool is offered: it fits one of `include` (all do if there is none) and none of `exclude`. */
export function isOffered(name: string, { include, exclude = [] }: ToolFilter): boolean {
  const fits = (globs: readonly string[]) => globs.some(glob => fitsGlob(name, glob))
  return (include === undefined || fits(include)) && !fits(exclude)
}

export interface ToolFilter {
  include?: readonly string[] | undefined
  exclude?: readonly string[] | undefined
}
