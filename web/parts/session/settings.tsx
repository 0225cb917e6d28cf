import { EFFORTS } from '../../../src/core/effort.ts'
import type { SessionView } from '../../../src/dialects/native/wire.ts'
import { abilitiesOf, modelsOf } from '../../state/abilities.ts'
import { configure } from '../../state/configuring.ts'
import { MODE_WORDS, MODES_IN_ORDER } from '../../state/modes.ts'
import { Dialog } from '../dialog.tsx'
import { Field } from '../field.tsx'
import { inertLine } from '../inert.ts'
import { Menu } from '../menu.tsx'

/** One thing that can be set, with what it can be set to. */
interface Setting {
  name: string
  /** As it is now, for a button. */
  shown: string
  choices: readonly { label: string; isChosen: boolean; choose(): void }[]
}

/** What this agent lets one set. */
function settingsOf(view: SessionView): Setting[] {
  const can = abilitiesOf(view.agent)
  return [
    modeSetting(view),
    ...(can?.setModel === false ? [] : modelSetting(view)),
    ...(can?.effort ? [effortSetting(view)] : []),
  ]
}

function modeSetting(view: SessionView): Setting {
  const choices = MODES_IN_ORDER.map((mode) => ({
    label: `${MODE_WORDS[mode].name}: ${MODE_WORDS[mode].means}`,
    isChosen: view.mode === mode,
    choose: () => configure(view, { mode }),
  }))
  return { name: 'Mode', shown: MODE_WORDS[view.mode].name, choices }
}

function modelSetting(view: SessionView): Setting[] {
  const models = modelsOf(view.agent)
  const inUse = view.modelInUse ?? view.model
  const shown = models.find(({ id }) => id === inUse)?.name ?? inUse ?? 'Model'
  if (models.length === 0) return []
  const own = {
    label: "The agent's choice",
    isChosen: view.model === null,
    choose: () => configure(view, { model: null }),
  }
  const others = models.map(({ id, name }) => ({
    label: inertLine(name),
    isChosen: view.model === id,
    choose: () => configure(view, { model: id }),
  }))
  return [{ name: 'Model', shown: inertLine(shown), choices: [own, ...others] }]
}

function effortSetting(view: SessionView): Setting {
  const model = modelsOf(view.agent).find(({ id }) => id === (view.modelInUse ?? view.model))
  const own = {
    label: 'As it does by itself',
    isChosen: view.effort === null,
    choose: () => configure(view, { effort: null }),
  }
  const others = (model?.efforts ?? EFFORTS).map((effort) => ({
    label: effort,
    isChosen: view.effort === effort,
    choose: () => configure(view, { effort }),
  }))
  return { name: 'Thinking', shown: `Thinking: ${view.effort ?? 'usual'}`, choices: [own, ...others] }
}

/** Where there is room: a menu for each. */
export function SettingMenus({ view }: { view: SessionView }) {
  return (
    <span class="session-settings">
      {settingsOf(view).map(({ name, shown, choices }) => {
        const items = choices.map(({ label, isChosen, choose }) => ({
          label,
          checked: isChosen,
          run: choose,
        }))
        return <Menu key={name} kind="quiet" side="left" label={shown} items={items} />
      })}
    </span>
  )
}

/** Where there is none. */
export function SettingsDialog({ view, onClose }: { view: SessionView; onClose(): void }) {
  return (
    <Dialog title="This session" onClose={onClose}>
      {settingsOf(view).map(({ name, choices }) => (
        <Field key={name} label={name}>
          {(control) => (
            <select
              {...control}
              class="input"
              value={choices.findIndex(({ isChosen }) => isChosen)}
              onChange={(event) => choices[Number(event.currentTarget.value)]?.choose()}
            >
              {choices.map(({ label }, at) => (
                <option key={at} value={at}>
                  {label}
                </option>
              ))}
            </select>
          )}
        </Field>
      ))}
    </Dialog>
  )
}
