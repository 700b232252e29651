import { Download } from 'lucide-react'
import type { ToolResult } from 'toolpost/gateway'
import { currentToken } from '../../api/token.ts'
import { asCommand, asCurl, asTest, asTypeScript } from '../../text/snippets.ts'
import { CodeBlock, saveAs } from '../../ui/code.tsx'
import { Button } from '../../ui/controls.tsx'
import { Tabs } from '../../ui/tabs.tsx'

interface Props {
  tool: string
  args: unknown
  /** What came back; a test expects the same. */
  result?: ToolResult | undefined
}

/** The same call from elsewhere: command line, curl, TypeScript, and as a test. */
export function RequestSnippets({ tool, args, result }: Props) {
  const options = { tool, args, origin: location.origin, withToken: currentToken() !== undefined, result }
  const name = tool.replace(/[^\w-]+/g, '-').slice(0, 60) || 'call'
  const tab = (value: string, label: string, text: string) => ({
    value,
    label,
    content: <CodeBlock text={text} label={label} />,
  })
  return (
    <Tabs
      label="The request as"
      tabs={[
        tab('cli', 'Command line', asCommand(options)),
        tab('curl', 'curl', asCurl(options)),
        tab('ts', 'TypeScript', asTypeScript(options)),
      ]}
      action={
        <Button icon={Download} onClick={() => saveAs(new Blob([asTest(options)]), `${name}.test.mjs`)}>
          Save as a test
        </Button>
      }
    />
  )
}
