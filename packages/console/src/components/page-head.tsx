import type { ReactNode } from 'react'

interface Props {
  title: string
  /** A status line next to or below the title. */
  sub?: ReactNode
  /** Actions. */
  children?: ReactNode
}

/** The head of a view: title, status and actions. */
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
