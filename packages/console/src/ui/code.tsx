import { Check, Copy } from 'lucide-react'
import { useEffect, useState } from 'react'
import { visibleText } from '../text/visible-text.ts'
import { Button, IconButton, ScrollBox } from './controls.tsx'

interface CopyProps {
  text: () => string
  label?: string
  /** With its label as text, not only as an icon. */
  wide?: boolean
}

export function CopyButton({ text, label = 'Copy', wide = false }: CopyProps) {
  const [isCopied, setCopied] = useState(false)
  useEffect(() => {
    const timer = isCopied ? setTimeout(() => setCopied(false), 1_500) : undefined
    return () => clearTimeout(timer)
  }, [isCopied])
  const copy = () =>
    void navigator.clipboard.writeText(text()).then(
      () => setCopied(true),
      () => {},
    )
  const icon = isCopied ? Check : Copy
  const shown = isCopied ? 'Copied' : label
  return wide ? (
    <Button icon={icon} onClick={copy}>
      {shown}
    </Button>
  ) : (
    <IconButton icon={icon} label={shown} onClick={copy} />
  )
}

interface CodeBlockProps {
  text: string
  label: string
  className?: string
}

/** Text as it is, in a box that scrolls, with a button to copy it. */
export function CodeBlock({ text, label, className = 'max-h-96' }: CodeBlockProps) {
  return (
    <div className="group relative">
      <ScrollBox label={label} className={`rounded-md bg-raised ${className}`}>
        <pre className="p-3 pr-10 text-xs break-words whitespace-pre-wrap">{visibleText(text)}</pre>
      </ScrollBox>
      <div className="absolute top-1 right-1">
        <CopyButton text={() => text} label={`Copy ${label.toLowerCase()}`} />
      </div>
    </div>
  )
}

/** Saves it as a file. */
export function saveAs(content: Blob, name: string): void {
  const address = URL.createObjectURL(content)
  const link = document.createElement('a')
  link.href = address
  link.download = name
  link.click()
  setTimeout(() => URL.revokeObjectURL(address), 10_000)
}
