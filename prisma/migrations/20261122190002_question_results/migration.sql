-- CreateTable
CREATE TABLE "question_results" (
    "organization_id" UUID NOT NULL,
    "assessment_id" UUID NOT NULL,
    "question_id" UUID NOT NULL,
    "results" INTEGER NOT NULL,
    "points" DECIMAL(20,1) NOT NULL,
    "of_points" BIGINT NOT NULL,

    CONSTRAINT "question_results_pkey" PRIMARY KEY ("organization_id","assessment_id","question_id")
);

-- AddForeignKey
ALTER TABLE "question_results" ADD CONSTRAINT "question_results_assessment_fkey" FOREIGN KEY ("organization_id", "assessment_id") REFERENCES "assessments"("organization_id", "id") ON DELETE CASCADE ON UPDATE NO ACTION;

-- From here on by hand: what schema.prisma can't express.

-- Whoever releases a result, also a process of the release before: it is counted instead of the version before it. In one order, so that
-- two at once wait for one another instead of locking each other out.
CREATE FUNCTION "sum_release"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO question_results AS kept (organization_id, assessment_id, question_id, results, points, of_points)
  SELECT s.organization_id, s.assessment_id, p.question_id, sum(sign), sum(sign * g.points), sum(sign * p.points)
  FROM (
    SELECT 1 AS sign, NEW.grades AS grades
    UNION ALL
    (SELECT -1, grades FROM releases
     WHERE organization_id = NEW.organization_id AND submission_id = NEW.submission_id AND version < NEW.version ORDER BY version DESC LIMIT 1)
  ) AS given
  CROSS JOIN jsonb_to_recordset(given.grades) AS g (number int, points numeric)
  JOIN submissions s ON s.organization_id = NEW.organization_id AND s.id = NEW.submission_id
  JOIN paper_questions p ON p.organization_id = s.organization_id AND p.submission_id = s.id AND p.number = g.number
  WHERE g.points IS NOT NULL AND p.points > 0
  GROUP BY s.organization_id, s.assessment_id, p.question_id
  ORDER BY p.question_id
  ON CONFLICT (organization_id, assessment_id, question_id) DO UPDATE SET
    results = kept.results + excluded.results, points = kept.points + excluded.points, of_points = kept.of_points + excluded.of_points;
  RETURN NULL;
END $$;
CREATE TRIGGER "releases_inserted" AFTER INSERT ON "releases" FOR EACH ROW EXECUTE FUNCTION "sum_release"();

INSERT INTO "question_results" (organization_id, assessment_id, question_id, results, points, of_points)
SELECT s.organization_id, s.assessment_id, p.question_id, count(*), sum(g.points), sum(p.points)
FROM (SELECT DISTINCT ON (organization_id, submission_id) * FROM releases ORDER BY organization_id, submission_id, version DESC) AS newest
CROSS JOIN jsonb_to_recordset(newest.grades) AS g (number int, points numeric)
JOIN submissions s ON s.organization_id = newest.organization_id AND s.id = newest.submission_id
JOIN paper_questions p ON p.organization_id = s.organization_id AND p.submission_id = s.id AND p.number = g.number
WHERE g.points IS NOT NULL AND p.points > 0
GROUP BY s.organization_id, s.assessment_id, p.question_id;
