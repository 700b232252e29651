import type { ReactNode } from 'react'

export function EmptyState({ title, children }: { title: string; children?: ReactNode }) {
  return (
    <div className="empty">
      <h2>{title}</h2>
      {children && <div className="muted">{children}</div>}
    </div>
  )
}

/** Grey bars while something is loading. */
export function Loading({ label, rows = 5 }: { label: string; rows?: number }) {
  return (
    <div className="loading" role="status">
      <span className="visually-hidden">{label}</span>
      {Array.from({ length: rows }, (_, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: rows that never change
        <span key={at} className="loading-bar" />
      ))}
    </div>
  )
}
