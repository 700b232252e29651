import type { ReactNode } from 'react'
import { oneLine } from '../text/visible-text.ts'

/** A link from a tool, a server or a model: http, https or mailto, in a new tab; anything else is text. */
export function WebLink({ address, children }: { address: string; children: ReactNode }) {
  const href = webAddress(address)
  if (href === undefined) return <span title={oneLine(address, 300)}>{children}</span>
  return (
    <a href={href} title={oneLine(href, 300)} target="_blank" rel="noopener noreferrer">
      {children}
    </a>
  )
}

export function webAddress(address: string): string | undefined {
  if (!URL.canParse(address)) return undefined
  const { protocol, href } = new URL(address)
  return ['https:', 'http:', 'mailto:'].includes(protocol) ? href : undefined
}
