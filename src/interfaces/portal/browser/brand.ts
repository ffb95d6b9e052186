import { MAX_LOGO, MAX_LOGO_BYTES } from '../../../domain/limits.ts'
import { createElement, setText } from '../../../http/browser/dom.ts'

// The page of an organization's colours and logo: colours can be picked, and any picture that the browser can draw becomes a PNG of the size
// that is taken, which says nothing any more of where and when it was taken.

/** Pixels of what can be drawn in any size. */
const DRAWING = { width: 600, height: 300 }
const SMALLEST = 16

/** Fields of colours, and what is there while they are empty: the colours of this page, which are the service's. */
for (const [id, standIn] of [
  ['primaryColor', '--color-primary'],
  ['backgroundColor', '--color-base-100'],
] as const) {
  const text = document.getElementById(id)
  if (text instanceof HTMLInputElement) offerPicker(text, standIn)
}
const logo = document.getElementById('logo')
if (logo instanceof HTMLInputElement) drawChosen(logo)

function offerPicker(text: HTMLInputElement, standIn: string): void {
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

/** A colour of the page's style as a picker takes it, however it is written there. */
function hexOf(property: string): string {
  const ground = document.createElement('canvas').getContext('2d')!
  ground.fillStyle = getComputedStyle(document.documentElement).getPropertyValue(property).trim()
  ground.fillRect(0, 0, 1, 1)
  const [red = 255, green = 255, blue = 255] = ground.getImageData(0, 0, 1, 1).data
  return `#${[red, green, blue].map((value) => value.toString(16).padStart(2, '0')).join('')}`
}

function drawChosen(input: HTMLInputElement): void {
  const line = createElement('p', { class: 'hint mt-1.5', role: 'status' })
  input.accept = 'image/*'
  input.after(line)
  input.addEventListener('change', async () => {
    const chosen = input.files?.[0]
    if (!chosen) return
    setText(line, '')
    const drawn = await draw(chosen).catch(() => null)
    if (input.files?.[0] !== chosen) return // another was chosen meanwhile
    if (!drawn) return setText(line, 'The browser can’t draw this picture. As PNG or JPEG it can be taken as it is.')
    const files = new DataTransfer()
    files.items.add(drawn)
    input.files = files.files
    setText(line, `It will be sent as a PNG of ${Math.ceil(drawn.size / 1e3)} kB.`)
  })
}

/** @returns null for what is empty, or is too large however small it is drawn. @throws Error for what is no picture to this browser. */
async function draw(file: File): Promise<File | null> {
  const image = new Image()
  image.src = URL.createObjectURL(file)
  try {
    await image.decode()
    const isDrawing = file.type === 'image/svg+xml'
    // A drawing may say no size.
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
