import { density, textSize, theme, type Density, type TextSize, type Theme } from '../../state/theme.ts'
import { Segments, type Option } from '../choice.tsx'
import { Facts, Section } from '../section.tsx'

const THEMES: readonly Option<Theme>[] = [
  { value: 'system', label: 'As the system' },
  { value: 'light', label: 'Light' },
  { value: 'dark', label: 'Dark' },
]
const SIZES: readonly Option<TextSize>[] = [
  { value: 'small', label: 'Small' },
  { value: 'normal', label: 'Normal' },
  { value: 'large', label: 'Large' },
  { value: 'larger', label: 'Larger' },
]
const DENSITIES: readonly Option<Density>[] = [
  { value: 'comfortable', label: 'Comfortable' },
  { value: 'compact', label: 'Compact' },
]

/** How this browser shows the dashboard. */
export function AppearanceSection() {
  return (
    <Section title="Appearance" about="For this browser only." id="appearance">
      <Facts
        rows={[
          [
            'Theme',
            <Segments
              label="Theme"
              options={THEMES}
              value={theme.value}
              onChange={(value) => (theme.value = value)}
            />,
          ],
          [
            'Text',
            <Segments
              label="Size of the text"
              options={SIZES}
              value={textSize.value}
              onChange={(value) => (textSize.value = value)}
            />,
          ],
          [
            'Density',
            <Segments
              label="Density"
              options={DENSITIES}
              value={density.value}
              onChange={(value) => (density.value = value)}
            />,
          ],
        ]}
      />
    </Section>
  )
}
