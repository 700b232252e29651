import type { ReactNode } from 'react'

/** Terms with their values; empty ones are left out. */
export function Facts({ facts }: { facts: Record<string, ReactNode> }) {
  const given = Object.entries(facts).filter(([, value]) => value !== undefined && value !== '')
  if (given.length === 0) return null
  return (
    <dl className="facts">
      {given.map(([term, value]) => (
        <div key={term}>
          <dt>{term}</dt>
          <dd className="figure">{value}</dd>
        </div>
      ))}
    </dl>
  )
}

/** A table head; `classes` gives class names by column. */
export function Columns({ names, classes }: { names: string[]; classes: Record<string, string> }) {
  return (
    <thead>
      <tr>
        {names.map(name => (
          <th key={name} scope="col" className={classes[name]}>
            {name}
          </th>
        ))}
      </tr>
    </thead>
  )
}
