-- Apart from where it is made: a table of that size is read without holding up who writes it.
ALTER TABLE "paper_questions" VALIDATE CONSTRAINT "paper_questions_version_fkey";
