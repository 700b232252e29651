import type { ReactNode } from 'react'

interface Props {
  title: string
  /** A line beside or below the title: how things are. */
  sub?: ReactNode
  /** What can be done here. */
  children?: ReactNode
}

/** The head of a view: its name, how things are, what can be done. */
export function PageHead({ title, sub, children }: Props) {
  return (
    <header className="page-head">
      <div className="page-head-text">
        <h1>{title}</h1>
        {sub && <div className="page-head-sub">{sub}</div>}
      </div>
      {children && <div className="toolbar page-head-actions">{children}</div>}
    </header>
  )
}
