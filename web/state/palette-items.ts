import { ATTENTIONS } from '../../src/core/attention.ts'
import type { IconName } from '../icons.ts'
import { copyText } from './copy.ts'
import { MODE_WORDS, MODES_IN_ORDER } from './modes.ts'
import { cursor } from './now-view.ts'
import { overlay } from './overlay.ts'
import type { Candidate } from './ranking.ts'
import { go, route } from './router.ts'
import { archive, interrupt, markDone, setMode, snooze, titleOf, togglePin, wake } from './session-actions.ts'
import { placeName } from './session-list.ts'
import type { SessionRow } from '../client/rows.ts'
import { rowOf, sessions } from './sessions.ts'
import { laterThan } from './snooze.ts'

/** Something that the palette can do. */
export interface PaletteItem extends Candidate {
  /** Shown in place of the detail, and not looked at. */
  hint?: string
  icon: IconName
  run(): void
}

/** Everything that can be reached, but for what the daemon has to be asked for. */
export function paletteItems(): PaletteItem[] {
  return [...sessionItems(), ...actionItems(), ...pageItems()]
}

function sessionItems(): PaletteItem[] {
  const rows = [...(sessions.value?.rows.values() ?? [])]
  const byNeed = (row: SessionRow): number => ATTENTIONS.indexOf(row.attention)
  return rows
    .toSorted((a, b) => byNeed(a) - byNeed(b) || b.activeAt - a.activeAt)
    .map((row) => ({
      id: `session:${row.id}`,
      group: 'sessions',
      title: titleOf(row),
      detail: `${row.agent} · ${row.cwd}`,
      words: [row.project?.name, row.model, ...row.marks.flags].join(' '),
      icon: row.attention === 'needs_you' ? 'circle-alert' : 'message-square',
      run: () => go({ page: 'session', id: row.id }),
    }))
}

const PAGES = [
  { page: 'now', title: 'Now', icon: 'activity', words: 'home sessions list' },
  { page: 'inbox', title: 'Inbox', icon: 'inbox', words: 'decisions approvals' },
  { page: 'search', title: 'Search', icon: 'search', words: 'find text messages' },
  { page: 'relay', title: 'Relay', icon: 'radio-tower', words: 'models calls tokens' },
  { page: 'system', title: 'System', icon: 'layers', words: 'memory doctor agents install' },
  { page: 'devices', title: 'Devices', icon: 'monitor-smartphone', words: 'pair phone qr' },
  { page: 'settings', title: 'Settings', icon: 'settings', words: 'rules theme keyboard' },
  { page: 'welcome', title: 'Welcome', icon: 'zap', words: 'first look demo tour install agents' },
] as const

function pageItems(): PaletteItem[] {
  return PAGES.map(({ page, title, icon, words }) => ({
    id: `page:${page}`,
    group: 'pages',
    title,
    words,
    icon,
    run: () => go({ page }),
  }))
}

/** The session that is open, or else the one at the cursor of the list. */
function sessionAtHand(): SessionRow | null {
  const at = route.value
  if (at.page === 'session' || at.page === 'changes') return rowOf(at.id)
  return at.page === 'now' && cursor.value ? rowOf(cursor.value.id) : null
}

type Act = Pick<PaletteItem, 'title' | 'icon' | 'run'> & { words?: string }

function actionItems(): PaletteItem[] {
  const row = sessionAtHand()
  const general: Act[] = [
    { title: 'New session', icon: 'plus', words: 'start create agent', run: () => (overlay.value = 'new') },
    {
      title: 'Show the keys',
      icon: 'keyboard',
      words: 'help shortcuts',
      run: () => (overlay.value = 'keys'),
    },
  ]
  const own = row ? actsOn(row).map((act) => ({ ...act, hint: titleOf(row) })) : []
  return [...general, ...own].map((act) => ({ id: `act:${act.title}`, group: 'actions', ...act }))
}

function actsOn(row: SessionRow): Act[] {
  const { marks, turn, mode } = row
  const later = laterThan(Date.now())
  return [
    { title: 'Mark as done', icon: 'check', words: 'settle finish', run: () => markDone([row]) },
    ...(marks.snoozedUntil === null
      ? later.map(({ label, at }): Act => ({
          title: `Snooze: ${label}`,
          icon: 'clock',
          run: () => snooze([row], at),
        }))
      : [{ title: 'Wake now', icon: 'undo-2' as const, run: () => wake([row]) }]),
    { title: marks.pinned ? 'Take the pin off' : 'Pin', icon: 'pin', run: () => togglePin([row]) },
    ...(turn
      ? [
          {
            title: 'Stop the turn',
            icon: 'square' as const,
            words: 'interrupt cancel',
            run: () => interrupt([row]),
          },
        ]
      : []),
    ...MODES_IN_ORDER.filter((one) => one !== mode).map((one): Act => ({
      title: `Mode: ${MODE_WORDS[one].name}`,
      icon: 'wrench',
      words: MODE_WORDS[one].means,
      run: () => setMode(row, one),
    })),
    {
      title: 'See the changes',
      icon: 'file-diff',
      words: 'diff',
      run: () => go({ page: 'changes', id: row.id }),
    },
    { title: `Copy the directory of ${placeName(row)}`, icon: 'copy', run: () => copyText(row.cwd) },
    { title: 'Archive', icon: 'trash-2', run: () => archive([row]) },
  ]
}
