rootProject.name = "brr"
