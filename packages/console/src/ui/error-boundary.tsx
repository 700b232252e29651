import { Component, type ReactNode } from 'react'
import { messageOf } from '../api/http.ts'

interface Props {
  children: ReactNode
  /** Shown instead; by default what went wrong, with a way to reload. */
  fallback?: ReactNode
}

/** One view that fails must not take the page with it. Give it a `key` that changes with its content. */
export class ErrorBoundary extends Component<Props, { problem?: string }> {
  override state: { problem?: string } = {}

  static getDerivedStateFromError(error: unknown): { problem: string } {
    return { problem: messageOf(error) }
  }

  override render(): ReactNode {
    const { problem } = this.state
    if (problem === undefined) return this.props.children
    if (this.props.fallback !== undefined) return this.props.fallback
    return (
      <div role="alert" className="m-auto flex max-w-lg flex-col items-start gap-2 p-8">
        <h2 className="text-base">This view failed</h2>
        <p className="break-words text-muted">{problem.slice(0, 500)}</p>
        <button type="button" className="link" onClick={() => location.reload()}>
          Reload the page
        </button>
      </div>
    )
  }
}
