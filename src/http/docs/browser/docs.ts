// What the documentation's pages do beyond being read. All of it is in addition: they read, and search, without it.
import { addCopyButtons } from './copy.ts'
import { followLanguage } from './samples.ts'
import { searchAsTyped } from './search.ts'
import { tryRequests } from './try.ts'

addCopyButtons()
followLanguage()
searchAsTyped()
tryRequests()
