"""BF590: what is left of modules and operators on functions that cannot be traced."""

from breakfinder.rules.families import FamilyRule
from breakfinder.rules.rule import Example


class ModuleFeature(FamilyRule):
    code = "BF590"
    name = "untraced-module-feature"
    examples = (
        Example(
            broken="""
                import torch


                class Settings:
                    scale = 2


                SETTINGS = Settings()


                @torch._dynamo.nonstrict_trace
                def scaled(x, settings):
                    return x * settings.scale


                def fn(x):
                    return scaled(x, SETTINGS).relu()  # <-- break
                """,
            fixed="""
                import torch


                class Settings:
                    scale = 2


                SETTINGS = Settings()


                @torch._dynamo.nonstrict_trace
                def scaled(x, scale):
                    return x * scale


                def fn(x):
                    return scaled(x, SETTINGS.scale).relu()
                """,
        ),
    )
