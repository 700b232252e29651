import type { ReactNode } from 'react'
import { oneLine } from '../text/visible-text.ts'

/** The address, if it leads to the web. */
export function webAddress(address: string): string | undefined {
  if (!URL.canParse(address)) return undefined
  const { protocol, href } = new URL(address)
  return protocol === 'https:' || protocol === 'http:' ? href : undefined
}

/** A link that leads out of the page; any other address is only text. Its target shows on hover. */
export function WebLink({ address, children }: { address: string; children: ReactNode }) {
  const href = webAddress(address)
  if (href === undefined) return <span title={oneLine(address, 300)}>{children}</span>
  return (
    <a className="link" href={href} title={oneLine(href, 300)} target="_blank" rel="noopener noreferrer">
      {children}
    </a>
  )
}
