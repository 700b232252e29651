import { Component, type ReactNode } from 'react'
import { Button } from './button.tsx'

interface Props {
  children: ReactNode
  /** Shown instead of what failed. */
  fallback?: ReactNode
  onError?: () => void
}

/** Contains a failure to the part of the page where it happened. */
export class ErrorBoundary extends Component<Props, { error: Error | undefined }> {
  override state: { error: Error | undefined } = { error: undefined }

  static getDerivedStateFromError(error: unknown) {
    return { error: error instanceof Error ? error : new Error(String(error)) }
  }

  override componentDidCatch() {
    this.props.onError?.()
  }

  override render() {
    const { error } = this.state
    if (error === undefined) return this.props.children
    return (
      this.props.fallback ?? (
        <div className="card notice notice-bad" role="alert">
          <h2>This part of the page failed</h2>
          <p>{error.message}</p>
          <Button onClick={() => this.setState({ error: undefined })}>Try again</Button>
        </div>
      )
    )
  }
}
