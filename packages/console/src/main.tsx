import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { adoptTokenFromAddress } from './api/token.ts'
import { App } from './app.tsx'
import { gateway } from './state/gateway.ts'
import { speaking } from './state/speaking.ts'
import { applyTheme } from './state/theme.ts'
import './styles/base.css'
import './styles/layout.css'
import './styles/parts.css'
import './styles/form.css'
import './styles/tools.css'
import './styles/calls.css'
import './styles/servers.css'
import './styles/chat.css'
import './styles/talk.css'

applyTheme()
adoptTokenFromAddress()
void gateway.follow()
speaking.follow()
// A machine that wakes up or gets its network back does not wait for the next attempt.
addEventListener('online', () => gateway.retryNow())
addEventListener('hashchange', adoptTokenFromAddress)
document.addEventListener(
  'visibilitychange',
  () => document.visibilityState === 'visible' && gateway.retryNow(),
)

const root = document.getElementById('root')
if (root)
  createRoot(root).render(
    <StrictMode>
      <App />
    </StrictMode>,
  )
