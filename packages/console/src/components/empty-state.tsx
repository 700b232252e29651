import type { ReactNode } from 'react'
import { Icon, type IconName } from './icon.tsx'

interface Props {
  title: string
  icon?: IconName
  /** Why it is empty, and what would fill it. */
  children?: ReactNode
  /** The next step. */
  action?: ReactNode
}

export function EmptyState({ title, icon, children, action }: Props) {
  return (
    <div className="empty">
      {icon && (
        <span className="empty-icon">
          <Icon name={icon} />
        </span>
      )}
      <h2>{title}</h2>
      {children && <div className="muted">{children}</div>}
      {action && <div className="empty-action">{action}</div>}
    </div>
  )
}

/** Placeholder bars while something is loading. */
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
