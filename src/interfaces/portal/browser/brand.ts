import { MAX_LOGO, MAX_LOGO_BYTES } from '../../../domain/limits.ts'
import { createElement, setText } from '../../../http/browser/dom.ts'

// Color pickers for the brand settings. Any picture that the browser can draw is converted to a PNG within the size limit, which also drops
// metadata such as place and time.

/** Largest size in pixels for drawings without a size of their own. */
const DRAWING = { width: 600, height: 300 }
const SMALLEST = 16

/** Color fields, and the CSS variables of the service's colors, shown while a field is empty. */
for (const [id, standIn] of [
  ['primaryColor', '--color-primary'],
  ['backgroundColor', '--color-base-100'],
] as const) {
  const text = document.getElementById(id)
  if (text instanceof HTMLInputElement) addColorPicker(text, standIn)
}
const logo = document.getElementById('logo')
if (logo instanceof HTMLInputElement) replaceWithPng(logo)

function addColorPicker(text: HTMLInputElement, standIn: string): void {
  const label = `Pick: ${text.labels?.[0]?.textContent ?? ''}`
  const picker = createElement('input', { type: 'color', class: 'input w-14 shrink-0 p-1', 'aria-label': label })
  const follow = () => {
    if (/^#[\da-f]{6}$/i.test(text.value)) picker.value = text.value
    else if (text.value.trim() === '') picker.value = hexOf(standIn)
  }
  text.addEventListener('input', follow)
  picker.addEventListener('input', () => {
    text.value = picker.value
  })
  follow()
  const row = createElement('div', { class: 'flex gap-2' })
  text.before(row)
  row.append(text, picker)
}

/** Converts any CSS color to the hexadecimal form that a color picker takes. */
function hexOf(property: string): string {
  const ground = document.createElement('canvas').getContext('2d')!
  ground.fillStyle = getComputedStyle(document.documentElement).getPropertyValue(property).trim()
  ground.fillRect(0, 0, 1, 1)
  const [red = 255, green = 255, blue = 255] = ground.getImageData(0, 0, 1, 1).data
  return `#${[red, green, blue].map((value) => value.toString(16).padStart(2, '0')).join('')}`
}

function replaceWithPng(input: HTMLInputElement): void {
  const line = createElement('p', { class: 'hint mt-1.5', role: 'status' })
  input.accept = 'image/*'
  input.after(line)
  input.addEventListener('change', async () => {
    const chosen = input.files?.[0]
    if (!chosen) return
    setText(line, '')
    const picture = await draw(chosen).catch(() => null)
    if (input.files?.[0] !== chosen) return // another was chosen meanwhile
    if (!picture) return setText(line, 'The browser can’t open this picture. Choose a PNG or JPEG file.')
    const files = new DataTransfer()
    files.items.add(picture)
    input.files = files.files
    setText(line, `It will be uploaded as a PNG of ${Math.ceil(picture.size / 1e3)} kB.`)
  })
}

/** @returns null if the picture is empty, or too large even at the smallest size. @throws Error if the browser can't decode it. */
async function draw(file: File): Promise<File | null> {
  const image = new Image()
  image.src = URL.createObjectURL(file)
  try {
    await image.decode()
    const isDrawing = file.type === 'image/svg+xml'
    // SVG files may have no size.
    const [width, height] = [image.naturalWidth || DRAWING.width, image.naturalHeight || DRAWING.height]
    const most = isDrawing ? DRAWING : MAX_LOGO
    let scale = Math.min(isDrawing ? Number.POSITIVE_INFINITY : 1, most.width / width, most.height / height)
    for (; Math.max(width, height) * scale >= SMALLEST; scale *= 0.8) {
      const blob = await drawAt(image, Math.ceil(width * scale - 0.5), Math.ceil(height * scale - 0.5))
      if (blob && blob.size <= MAX_LOGO_BYTES) return new File([blob], 'logo.png', { type: 'image/png' })
    }
    return null
  } finally {
    URL.revokeObjectURL(image.src)
  }
}

function drawAt(image: HTMLImageElement, width: number, height: number): Promise<Blob | null> {
  const canvas = document.createElement('canvas')
  canvas.width = Math.max(1, width)
  canvas.height = Math.max(1, height)
  canvas.getContext('2d')?.drawImage(image, 0, 0, canvas.width, canvas.height)
  return new Promise((resolve) => canvas.toBlob(resolve, 'image/png'))
}
