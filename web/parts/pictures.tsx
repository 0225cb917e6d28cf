import { useState } from 'preact/hooks'
import { isPictureType, type Content } from '../../src/core/content.ts'
import { Icon } from './icon.tsx'

/** The pictures and documents of a message. */
export function Pictures({ content }: { content: readonly Content[] }) {
  const parts = content.filter((part) => part.type !== 'text')
  if (parts.length === 0) return null
  return (
    <div class="pictures">
      {parts.map((part, at) =>
        part.type === 'image' && isPictureType(part.mediaType) ? (
          <Picture key={at} mediaType={part.mediaType} data={part.data} />
        ) : (
          <span key={at} class="picture-other">
            <Icon name="file-text" />
            {part.type === 'document' ? 'PDF' : 'A picture that cannot be shown'}
          </span>
        ),
      )}
    </div>
  )
}

/** Its frame has one size, before the picture is there and after. */
function Picture({ mediaType, data }: { mediaType: string; data: string }) {
  const [isLarge, setLarge] = useState(false)
  return (
    <button
      type="button"
      class="picture"
      aria-label={isLarge ? 'Show it smaller' : 'Show it larger'}
      data-large={isLarge || undefined}
      onClick={() => setLarge(!isLarge)}
    >
      {data === '' ? (
        <Icon name="image" />
      ) : (
        <img src={`data:${mediaType};base64,${data}`} alt="Picture in the message" />
      )}
    </button>
  )
}
