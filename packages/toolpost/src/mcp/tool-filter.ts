import { fitsGlob } from '../runtime/glob.ts'

/** Whether a tool is offered: it matches `include` (or there is none) and does not match `exclude`. */
export function isOffered(name: string, { include, exclude = [] }: ToolFilter): boolean {
  const fits = (globs: readonly string[]) => globs.some(glob => fitsGlob(name, glob))
  return (include === undefined || fits(include)) && !fits(exclude)
}

export interface ToolFilter {
  include?: readonly string[] | undefined
  exclude?: readonly string[] | undefined
}
