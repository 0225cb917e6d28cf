import { render } from 'preact'
import { App } from './app.tsx'
import { keepConnected } from './state/connection.ts'
import { applyTheme } from './state/theme.ts'
import { followLinks } from './state/router.ts'
import { keepUpToDate } from './state/update.ts'
import { listenForKeys } from './parts/use-keys.ts'
import { keepApprovals } from './state/approvals.ts'
import { keepSign } from './state/attention-sign.ts'
import { keepInbox } from './state/inbox-view.ts'
import { keepReadMarks } from './state/read-marks.ts'
import { keepSessions } from './state/sessions.ts'

applyTheme()
followLinks()
keepConnected()
keepUpToDate()
keepSessions()
keepApprovals()
keepInbox()
keepReadMarks()
keepSign()
listenForKeys()
render(<App />, document.getElementById('app')!)
