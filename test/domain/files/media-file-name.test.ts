import { expect, it } from 'vitest'
import { downloadName } from '../../../src/domain/files/media-file-name.ts'

it.each([
  ['x.bat', 'text/plain', 'x.bat.txt'],
  ['page.html', 'text/plain', 'page.html.txt'],
  ['Notes.TXT', 'text/plain', 'Notes.TXT'],
  ['table.csv', 'text/plain', 'table.csv'],
  ['photo.jpeg', 'image/jpeg', 'photo.jpeg'],
  ['photo.png', 'image/jpeg', 'photo.png.jpg'],
  ['cv', 'application/pdf', 'cv.pdf'],
  ['cv.undefined', 'application/pdf', 'cv.undefined.pdf'],
])('a file %s whose content is %s is downloaded as %s', (fileName, contentType, expected) => {
  expect(downloadName({ fileName, contentType })).toBe(expected)
})
