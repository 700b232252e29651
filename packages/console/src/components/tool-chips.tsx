import { hrefOf } from '../routing/route.ts'
import { oneLine } from '../text/visible-text.ts'

/** Links to tools, by name. */
export function ToolChips({ names }: { names: string[] }) {
  return names.map(name => (
    <a key={name} className="chip" href={hrefOf({ view: 'tools', tool: name })}>
      {oneLine(name, 80)}
    </a>
  ))
}
